import { formatDuration } from '../shared/duration.ts';
import { formatMoney } from './money.ts';
import type { OrderEvidence } from './order-evidence.ts';
import type { OrderRow } from './orders-table.ts';
import { PAYMENT_LIMIT_KOPIYKAS } from './payment-limit.ts';
import { failedRounds } from './saga-steps.ts';

/** One sentence in plain words: how the order stands, and why. Pure. */
export function diagnose(evidence: OrderEvidence): string {
  const { order } = evidence;
  if (order.status === 'Confirmed') return `Confirmed: ${confirmedBecause(evidence)}.`;
  if (order.status === 'Cancelled')
    return `Cancelled because ${cancelledBecause(evidence)}; ${compensationOf(evidence)}.`;
  return `Not decided yet: ${runningBecause(order)}.`;
}

function confirmedBecause(evidence: OrderEvidence): string {
  const { order, outbox, shipment, unavailable } = evidence;
  const paid = `payments accepted ${formatMoney(order.totalKopiykas, order.currency)}`;
  const waiting = outbox.find(({ publishedAt }) => publishedAt === null);
  if (shipment !== null) {
    const again = waiting === undefined ? '' : `; ${waiting.type} waits to be published again`;
    return `${paid} and the shipment was created ${since(order, shipment.createdAt)} the order was placed${again}`;
  }
  if (waiting !== undefined) {
    const age = formatDuration(waiting.readAt.getTime() - waiting.createdAt.getTime());
    return `${paid}, but ${waiting.type} has waited in the outbox for ${age}, so there is no shipment yet`;
  }
  if (unavailable.shipping !== undefined)
    return `${paid}; whether it was shipped is unknown: no response from shipping`;
  const publishedAt = outbox.at(-1)?.publishedAt;
  if (publishedAt == null) return `${paid}, but the outbox holds no event for it, so there is no shipment`;
  const age = formatDuration(order.readAt.getTime() - publishedAt.getTime());
  const look = 'see "shopctl status", and the dead letters with "shopctl dlq ls"';
  return `${paid}, but the event published ${age} ago has not reached shipping: ${look}`;
}

function cancelledBecause({ order, reservation }: OrderEvidence): string {
  const total = formatMoney(order.totalKopiykas, order.currency);
  switch (order.reason) {
    case 'payment declined': {
      const isAboveLimit = order.totalKopiykas > PAYMENT_LIMIT_KOPIYKAS;
      const limit = isAboveLimit ? ` (limit ${formatMoney(PAYMENT_LIMIT_KOPIYKAS, order.currency)})` : '';
      return `payments declined ${total}${limit}`;
    }
    case 'payment unavailable':
      return `payments gave no clear response about ${total}${errorOf(order)}`;
    case 'out of stock': {
      const products = reservation?.insufficientProductIds ?? [];
      return `stock has too little of ${products.length === 0 ? 'a product' : `product ${products.join(', ')}`}`;
    }
    case 'stock unavailable':
      return `stock gave no clear response${errorOf(order)}`;
    default:
      return order.reason ?? 'of a reason that was not recorded';
  }
}

function errorOf({ lastError }: OrderRow): string {
  return lastError === null ? '' : ` (${lastError})`;
}

function compensationOf(evidence: OrderEvidence): string {
  const { order, reservation, payment, unavailable } = evidence;
  if (order.open) {
    const tries = order.attempts === 0 ? '' : ` after ${failedRounds(order.attempts)}`;
    return `still to do${tries}: ${order.pending.join(', ')}${nextTry(order)}`;
  }
  const missing = [unavailable.stock && 'stock', unavailable.payments && 'payments'].filter(Boolean);
  if (missing.length > 0) return `what was undone is unknown: no response from ${missing.join(' and ')}`;
  const undone = [refundOf(order, payment), releaseOf(order, reservation)].filter((part) => part !== undefined);
  return undone.length === 0 ? 'nothing had to be undone' : undone.join(' and ');
}

function refundOf(order: OrderRow, payment: OrderEvidence['payment']): string | undefined {
  if (payment?.state === 'refunded') return `the payment was refunded ${later(order, payment.updatedAt)}`;
  return payment?.state === 'voided' ? 'no money was taken' : undefined;
}

function releaseOf(order: OrderRow, reservation: OrderEvidence['reservation']): string | undefined {
  if (reservation === null || reservation.releasedAt === null) return undefined;
  if (!reservation.wasReserved) return 'no stock had been reserved';
  return `the reservation was released ${later(order, reservation.releasedAt)}`;
}

function runningBecause(order: OrderRow): string {
  const age = formatDuration(order.readAt.getTime() - order.createdAt.getTime());
  const driver = order.owner.alive
    ? `${order.owner.instance} drives it`
    : 'the instance that drove it is gone, and another one adopts it within seconds of running';
  return `its saga has been running for ${age}, the last saved state is ${order.state}, ${driver}`;
}

function nextTry({ nextAttemptAt, readAt }: OrderRow): string {
  if (nextAttemptAt === null) return '';
  const inMs = nextAttemptAt.getTime() - readAt.getTime();
  return inMs > 0 ? `, next try in ${formatDuration(inMs)}` : ', next try is due';
}

function since({ createdAt }: OrderRow, at: Date): string {
  return `${formatDuration(at.getTime() - createdAt.getTime())} after`;
}

/** Relative to the decision, which is when the caller got the response. */
function later({ decidedAt, createdAt }: OrderRow, at: Date): string {
  return `${formatDuration(Math.max(0, at.getTime() - (decidedAt ?? createdAt).getTime()))} later`;
}
