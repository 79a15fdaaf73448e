import type { OrderEvidence } from '../order-evidence.ts';
import type { OrderRow } from '../orders-table.ts';
import type { OutboxRow } from '../outbox-table.ts';
import type { Payment, Reservation } from '../participants.ts';

/** Builders of what the databases hold for an order; every moment is given in ms after it was placed. */
const PLACED_AT = Date.UTC(2026, 0, 2, 3, 4, 5);

export const at = (ms: number): Date => new Date(PLACED_AT + ms);

export const ORDER_ID = '3f2b8a1c-5d4e-4f60-9a7b-8c9d0e1f2a3b';
export const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

/** A confirmed order of product 1 for 450.00 UAH. */
export function anOrder(change: Partial<OrderRow> = {}): OrderRow {
  return {
    id: ORDER_ID,
    status: 'Confirmed',
    reason: null,
    state: 'Confirmed',
    open: false,
    version: 4,
    owner: { id: 'a2f1b3c4-0000-4000-8000-000000000001', instance: 'orders-1', leaseUntil: at(9_000), alive: true },
    pending: [],
    attempts: 0,
    lastError: null,
    nextAttemptAt: null,
    traceId: TRACE_ID,
    lines: [{ productId: 1, quantity: 1, priceKopiykas: 45_000 }],
    totalKopiykas: 45_000,
    currency: 'UAH',
    createdAt: at(0),
    decidedAt: at(30),
    updatedAt: at(30),
    readAt: at(5_000),
    ...change,
  };
}

export function aReservation(change: Partial<Reservation> = {}): Reservation {
  return {
    state: 'reserved',
    wasReserved: true,
    lines: [{ productId: 1, quantity: 1 }],
    insufficientProductIds: [],
    createdAt: at(8),
    releasedAt: null,
    ...change,
  };
}

export function aPayment(change: Partial<Payment> = {}): Payment {
  return {
    state: 'accepted',
    amountKopiykas: 45_000,
    currency: 'UAH',
    createdAt: at(15),
    updatedAt: at(18),
    ...change,
  };
}

export function anOutboxRow(change: Partial<OutboxRow> = {}): OutboxRow {
  return {
    id: 'b1c2d3e4-1111-4111-8111-111111111111',
    seq: 7,
    orderId: ORDER_ID,
    type: 'order.confirmed',
    createdAt: at(30),
    publishedAt: at(320),
    readAt: at(5_000),
    ...change,
  };
}

/** A confirmed, published, delivered and shipped order. */
export function someEvidence(change: Partial<OrderEvidence> = {}): OrderEvidence {
  return {
    order: anOrder(),
    outbox: [anOutboxRow()],
    reservation: aReservation(),
    payment: aPayment(),
    inbox: [{ messageId: anOutboxRow().id, type: 'order.confirmed', receivedAt: at(335) }],
    shipment: {
      id: 'c0ffee00-2222-4222-8222-222222222222',
      lines: [{ productId: 1, quantity: 1 }],
      createdAt: at(340),
    },
    unavailable: {},
    ...change,
  };
}

/** An order that was cancelled and has no event. */
export function aCancelledOrder(order: Partial<OrderRow>, change: Partial<OrderEvidence> = {}): OrderEvidence {
  return someEvidence({
    order: anOrder({ status: 'Cancelled', state: 'Cancelled', ...order }),
    outbox: [],
    inbox: [],
    shipment: null,
    payment: null,
    ...change,
  });
}
