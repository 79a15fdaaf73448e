import { expect, it } from 'vitest';
import type { Charge } from '../payment.ts';
import type { Payments } from '../payments.ts';
import { failingLargeCharges } from './large-charges-fail.ts';

it('makes no large charge, and each other one', async () => {
  const charged: number[] = [];
  const real: Payments = {
    async charge({ amount }) {
      charged.push(amount);
      return { outcome: 'accepted', first: true };
    },
    refund: () => Promise.reject(new Error('nothing is refunded')),
    find: async () => undefined,
  };
  const seeded = failingLargeCharges(real);
  const ofAmount = (amount: number): Charge => ({ orderId: 'order-1', idempotencyKey: 'key', amount, currency: 'UAH' });
  expect(await seeded.charge(ofAmount(100_000))).toEqual({ outcome: 'accepted', first: true });
  await expect(seeded.charge(ofAmount(100_001))).rejects.toThrow('too large');
  expect(charged).toEqual([100_000]);
});
