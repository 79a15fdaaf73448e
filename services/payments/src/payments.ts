import type { Failpoint } from '@shop/kit/failpoints.ts';
import { type Charge, type ChargeResult, decide, type Payment, type Repeat, resolveRepeat } from './payment.ts';
import { KEY_REUSED, type PaymentStore } from './repository.ts';

/** How a refund ends: the payment as it is now, or that the key belongs to another order. */
export type RefundResult = Payment | typeof KEY_REUSED;

export interface Payments {
  /**
   * Charges an order once. The attempt is written before its outcome, in two steps, so that a crash between them leaves
   * an open attempt, which a repeat completes and a refund voids.
   */
  charge(charge: Charge): Promise<ChargeResult>;
  /** Refunds what was, or may yet be, charged: after it no charge of this order succeeds. Idempotent. */
  refund(orderId: string, refundKey: string): Promise<RefundResult>;
  find(orderId: string): Promise<Payment | undefined>;
}

/** A race can be lost once per state that a payment passes through. */
const MAX_ROUNDS = 3;

export function createPayments(store: PaymentStore, failpoint: Failpoint<'payments'>): Payments {
  async function complete(charge: Charge): Promise<ChargeResult> {
    const outcome = decide(charge.amount);
    if (await store.recordOutcome(charge, outcome)) {
      HARNESS: await failpoint('charge-decided:response-unsent');
      return { outcome, first: true };
    }
    // Another call with this key, or a refund, closed the attempt first.
    return settled(await repeat(charge));
  }

  async function repeat(charge: Charge): Promise<Repeat> {
    const existing = (await store.findByOrder(charge.orderId)) ?? (await store.findByChargeKey(charge.idempotencyKey));
    if (existing === undefined) throw new Error('payments: the conflicting payment was not found');
    return resolveRepeat(charge, existing);
  }

  return {
    async charge(charge) {
      HARNESS: await failpoint('charge-requested:unrecorded');
      if (!(await store.addAttempt(charge))) {
        const found = await repeat(charge);
        return found === 'complete the attempt' ? complete(charge) : found;
      }
      HARNESS: await failpoint('charge-attempted:undecided');
      return complete(charge);
    },

    async refund(orderId, refundKey) {
      HARNESS: await failpoint('refund-requested:unrecorded');
      const result = await recordRefund(orderId, refundKey);
      HARNESS: await failpoint('refund-recorded:response-unsent');
      return result;
    },

    find: (orderId) => store.findByOrder(orderId),
  };

  async function recordRefund(orderId: string, refundKey: string): Promise<RefundResult> {
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const changed = (await store.refund(orderId, refundKey)) ?? (await store.addTombstone(orderId, refundKey));
      if (changed !== undefined) return changed;
      const existing = await store.findByOrder(orderId);
      if (existing === undefined) return KEY_REUSED;
      // A charge came in between: the next round refunds it.
      if (existing.state !== 'accepted' && existing.state !== 'attempted') return existing;
    }
    throw new Error(`payments: a refund lost its race ${MAX_ROUNDS} times`);
  }
}

function settled(result: Repeat): ChargeResult {
  if (result === 'complete the attempt') throw new Error('payments: an attempt is both open and closed');
  return result;
}
