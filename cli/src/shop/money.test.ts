import { expect, it } from 'vitest';
import { PAYMENT_LIMIT_KOPIYKAS as decidedBy } from '../../../services/payments/src/payment.ts';
import { formatMoney } from './money.ts';
import { PAYMENT_LIMIT_KOPIYKAS } from './payment-limit.ts';

it.each([
  [0, '0.00 UAH'],
  [5, '0.05 UAH'],
  [45_000, '450.00 UAH'],
  [123_450, '1,234.50 UAH'],
  [5_000_000, '50,000.00 UAH'],
  [-123_456_789, '-1,234,567.89 UAH'],
  [Number.MAX_SAFE_INTEGER, '90,071,992,547,409.91 UAH'],
])('%i kopiykas are written %s', (amount, text) => {
  expect(formatMoney(amount, 'UAH')).toBe(text);
});

it('words the limit by which payments decide', () => {
  expect(PAYMENT_LIMIT_KOPIYKAS).toBe(decidedBy);
});
