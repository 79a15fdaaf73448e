import type { AttemptOutcome } from '@shop/kit/attempt-outcomes.ts';
import type { Deadline } from '@shop/kit/deadline.ts';
import { PermanentError } from '@shop/kit/failures.ts';
import type { HttpClient, HttpResponse } from '@shop/kit/http-client.ts';
import type { HttpReplica } from '@shop/kit/http-replica.ts';
import type { CallPolicy } from '@shop/kit/resilience.ts';

export interface Charge {
  readonly orderId: string;
  readonly amountKopiykas: number;
  readonly currency: string;
}

/** `voided`: the order was refunded before this charge arrived, so nothing was taken. */
export type ChargeResult = 'accepted' | 'declined' | 'voided';

export interface Payments {
  /** Rejects with CallUnavailableError when the outcome is unknown. */
  charge(charge: Charge, deadline: Deadline): Promise<ChargeResult>;
  /** Refunds a charge that was, or may have been, made. Rejects when that is not certain. */
  refund(orderId: string, deadline: Deadline): Promise<void>;
}

const CHARGE_RESULTS: Readonly<Record<number, ChargeResult>> = {
  200: 'accepted',
  201: 'accepted',
  402: 'declined',
  409: 'voided',
};

/** A charge that was refunded before it came (409) is what the shop wants. */
function outcomeOf({ status }: HttpResponse): AttemptOutcome {
  if (status === 402) return 'declined';
  return status < 300 || status === 409 ? 'ok' : 'rejected';
}

export function createPayments(client: HttpClient, policy: CallPolicy<HttpReplica>): Payments {
  return {
    async charge({ orderId, amountKopiykas, currency }, deadline) {
      const body = { orderId, amount: amountKopiykas, currency, idempotencyKey: `${orderId}:charge` };
      const { status } = await policy.execute({ deadline, idempotent: true, key: orderId, outcomeOf }, (attempt) =>
        client.send({ method: 'POST', path: '/payments', body }, attempt),
      );
      const result = CHARGE_RESULTS[status];
      if (result === undefined) throw new PermanentError(`payments: unexpected response ${status} to a charge`);
      return result;
    },
    async refund(orderId, deadline) {
      const body = { idempotencyKey: `${orderId}:refund` };
      const { status } = await policy.execute({ deadline, idempotent: true, key: orderId, outcomeOf }, (attempt) =>
        client.send({ method: 'POST', path: `/payments/${orderId}/refund`, body }, attempt),
      );
      if (status !== 200 && status !== 201)
        throw new PermanentError(`payments: unexpected response ${status} to a refund`);
    },
  };
}
