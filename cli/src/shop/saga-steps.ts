import type { OrderEvidence } from './order-evidence.ts';
import type { Payment, Reservation } from './participants.ts';

/** `unknown`: the database that would know did not respond. `waiting`: not done yet, and due. */
export type StepResult = 'done' | 'refused' | 'no effect' | 'running' | 'waiting' | 'not done' | 'unknown';

/** A publication recorded that long after the delivery is another one: the relay waits 5 s for a confirm. */
const PUBLISHED_AGAIN_MS = 10_000;

/** One step of an order's way as the databases recorded it. */
export interface SagaStep {
  readonly name: string;
  readonly result: StepResult;
  readonly at: Date | null;
  readonly detail: string;
  /** Database that knows. */
  readonly from: 'orders' | 'stock' | 'payments' | 'shipping';
}

/**
 * The steps of an order in the saga's order: forward steps, the decision, compensations, then publication and delivery.
 * Steps that the order's way does not have are left out. Pure.
 */
export function sagaSteps(evidence: OrderEvidence): SagaStep[] {
  return [
    {
      name: 'start order',
      result: 'done',
      at: evidence.order.createdAt,
      detail: 'order and saga recorded',
      from: 'orders',
    },
    reserveStep(evidence),
    ...chargeSteps(evidence),
    ...decisionSteps(evidence),
    ...refundSteps(evidence),
    ...releaseSteps(evidence),
    ...eventSteps(evidence),
  ];
}

function reserveStep({ order, reservation, unavailable }: OrderEvidence): SagaStep {
  const step = { name: 'reserve stock', from: 'stock' } as const;
  if (unavailable.stock !== undefined) return { ...step, result: 'unknown', at: null, detail: 'no response' };
  if (reservation === null) {
    const result = order.state === 'Started' ? 'running' : 'not done';
    return { ...step, result, at: null, detail: 'no reservation recorded' };
  }
  return { ...step, at: reservation.createdAt, ...reservationResult(reservation) };
}

function reservationResult(reservation: Reservation): { result: StepResult; detail: string } {
  const { state, lines, insufficientProductIds, wasReserved } = reservation;
  if (state === 'insufficient') {
    return { result: 'refused', detail: `too little of product ${insufficientProductIds.join(', ')}` };
  }
  if (!wasReserved) return { result: 'no effect', detail: 'released before it was reserved' };
  return { result: 'done', detail: formatLines(lines) };
}

/** `product 1 x 2, product 3 x 1` */
export function formatLines(lines: readonly { readonly productId: number; readonly quantity: number }[]): string {
  return lines.map(({ productId, quantity }) => `product ${productId} x ${quantity}`).join(', ');
}

function chargeSteps({ order, payment, unavailable }: OrderEvidence): SagaStep[] {
  const step = { name: 'charge payment', from: 'payments' } as const;
  if (unavailable.payments !== undefined) return [{ ...step, result: 'unknown', at: null, detail: 'no response' }];
  if (payment !== null) return [{ ...step, at: payment.createdAt, ...chargeResult(payment) }];
  if (order.state === 'StockReserved') {
    return [{ ...step, result: 'running', at: null, detail: 'no payment recorded yet' }];
  }
  const wasDue =
    order.state === 'PaymentCharged' || order.status === 'Confirmed' || order.reason?.startsWith('payment');
  if (!wasDue) return [];
  return [{ ...step, result: 'not done', at: null, detail: 'no payment recorded' }];
}

function chargeResult({ state, amountKopiykas }: Payment): { result: StepResult; detail: string } {
  switch (state) {
    case 'attempted':
      return { result: 'running', detail: 'attempted, outcome not recorded' };
    case 'declined':
      return { result: 'refused', detail: 'declined' };
    case 'voided':
      return { result: 'no effect', detail: amountKopiykas === null ? 'voided before it was charged' : 'voided' };
    case 'accepted':
    case 'refunded':
      return { result: 'done', detail: 'accepted' };
  }
}

function decisionSteps({ order }: OrderEvidence): SagaStep[] {
  if (order.status === null) return [];
  const detail = order.reason ?? 'status, saga and outbox row in one statement';
  const name = order.status === 'Confirmed' ? 'confirm order' : 'cancel order';
  return [{ name, result: 'done', at: order.decidedAt, detail, from: 'orders' }];
}

function refundSteps({ order, payment }: OrderEvidence): SagaStep[] {
  const step = { name: 'refund payment', from: 'payments' } as const;
  if (order.pending.includes(step.name)) return [{ ...step, ...waitingFor(order) }];
  if (payment === null || (payment.state !== 'refunded' && payment.state !== 'voided')) return [];
  const detail = payment.state === 'refunded' ? 'money returned' : 'nothing had been charged';
  return [{ ...step, result: 'done', at: payment.updatedAt, detail }];
}

function releaseSteps({ order, reservation }: OrderEvidence): SagaStep[] {
  const step = { name: 'release stock', from: 'stock' } as const;
  if (order.pending.includes(step.name)) return [{ ...step, ...waitingFor(order) }];
  if (reservation === null || reservation.releasedAt === null) return [];
  const detail = reservation.wasReserved ? 'units returned' : 'nothing had been reserved';
  return [{ ...step, result: 'done', at: reservation.releasedAt, detail }];
}

/** "1 failed round", "3 failed rounds" */
export function failedRounds(count: number): string {
  return `${count} failed round${count === 1 ? '' : 's'}`;
}

function waitingFor({ attempts, lastError }: OrderEvidence['order']): { result: StepResult; at: null; detail: string } {
  const tries = attempts === 0 ? 'not tried yet' : failedRounds(attempts);
  return { result: 'waiting', at: null, detail: lastError === null ? tries : `${tries}: ${lastError}` };
}

function eventSteps({ order, outbox, inbox, shipment, unavailable }: OrderEvidence): SagaStep[] {
  const published = outbox.map(({ id, type, publishedAt }): SagaStep => {
    const result = publishedAt === null ? 'waiting' : 'done';
    const received = inbox.find(({ messageId }) => messageId === id)?.receivedAt;
    // Only the last publication is recorded. The relay records it after the broker's confirm, so mostly after the delivery.
    const late = received === undefined || publishedAt === null ? 0 : publishedAt.getTime() - received.getTime();
    const again = late > PUBLISHED_AGAIN_MS ? ', published again' : '';
    return {
      name: `publish ${type}`,
      result,
      at: publishedAt,
      detail: `outbox ${id.slice(0, 8)}${again}`,
      from: 'orders',
    };
  });
  if (order.status !== 'Confirmed' && shipment === null && inbox.length === 0) return published;
  if (unavailable.shipping !== undefined) {
    return [
      ...published,
      { name: 'deliver event', result: 'unknown', at: null, detail: 'no response', from: 'shipping' },
      { name: 'create shipment', result: 'unknown', at: null, detail: 'no response', from: 'shipping' },
    ];
  }
  const delivered = inbox.map(
    ({ messageId, type, receivedAt }): SagaStep => ({
      name: `deliver ${type}`,
      result: 'done',
      at: receivedAt,
      detail: `inbox ${messageId.slice(0, 8)}`,
      from: 'shipping',
    }),
  );
  const notDelivered: SagaStep = {
    name: 'deliver event',
    result: 'waiting',
    at: null,
    detail: 'not in the inbox',
    from: 'shipping',
  };
  return [
    ...published,
    ...(delivered.length > 0 ? delivered : [notDelivered]),
    {
      name: 'create shipment',
      result: shipment === null ? 'waiting' : 'done',
      at: shipment?.createdAt ?? null,
      detail: shipment === null ? 'no shipment' : `shipment ${shipment.id.slice(0, 8)}`,
      from: 'shipping',
    },
  ];
}
