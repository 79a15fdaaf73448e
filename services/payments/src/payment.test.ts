import { describe, expect, it } from 'vitest';
import {
  type Charge,
  decide,
  PAYMENT_LIMIT_KOPIYKAS,
  type Payment,
  type PaymentState,
  resolveRepeat,
} from './payment.ts';

const charge: Charge = { orderId: 'order-1', idempotencyKey: 'order-1:charge', amount: 45_000, currency: 'UAH' };

const aPayment = (change: Partial<Payment> = {}): Payment => ({
  orderId: 'order-1',
  state: 'accepted',
  chargeKey: 'order-1:charge',
  amount: 45_000,
  currency: 'UAH',
  ...change,
});

describe('decide', () => {
  it.each([
    [1, 'accepted'],
    [PAYMENT_LIMIT_KOPIYKAS, 'accepted'],
    [PAYMENT_LIMIT_KOPIYKAS + 1, 'declined'],
    [Number.MAX_SAFE_INTEGER, 'declined'],
  ])('%d kopiykas are %s', (amount, outcome) => {
    expect(decide(amount)).toBe(outcome);
  });
});

describe('a charge that finds a payment', () => {
  it.each([
    ['attempted', 'complete the attempt'],
    ['accepted', { outcome: 'accepted', first: false }],
    ['declined', { outcome: 'declined', first: false }],
    ['refunded', { outcome: 'voided' }],
    ['voided', { outcome: 'voided' }],
  ] satisfies [PaymentState, unknown][])('%s -> %j', (state, expected) => {
    expect(resolveRepeat(charge, aPayment({ state }))).toEqual(expected);
  });

  it('is voided by a tombstone, which has no key and no amount', () => {
    const tombstone = aPayment({ state: 'voided', chargeKey: undefined, amount: undefined, currency: undefined });
    expect(resolveRepeat(charge, tombstone)).toEqual({ outcome: 'voided' });
  });

  it.each([
    ['another amount', { amount: 45_001 }],
    ['another currency', { currency: 'EUR' }],
    ['another key', { chargeKey: 'order-1:other' }],
    ['another order', { orderId: 'order-2' }],
    ["another order's void", { orderId: 'order-2', state: 'voided' as const }],
  ])('is refused as a reused key for %s', (_difference, change) => {
    expect(resolveRepeat(charge, aPayment(change))).toMatchObject({ outcome: 'key reused' });
  });
});
