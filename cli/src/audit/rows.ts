import type { DatabaseName } from '../topology/databases.ts';
import { readEvent } from './event-payload.ts';
import type {
  EffectFact,
  InboxFact,
  Line,
  OrderFact,
  OutboxFact,
  ParcelFact,
  PaymentFact,
  PricedLine,
  ReservationFact,
  ShipmentFact,
} from './facts.ts';

/** Which orders are audited. */
export interface Scope {
  /** Only this one. */
  readonly orderId?: string;
  /** Only those placed since, ms since 1970 by the database's clock. */
  readonly sinceMs?: number;
}

/** A row as text and numbers, columns in the order of its select list; the first is the order's id. */
export type Row = readonly (string | number | boolean | null)[];

/** One table read in order of order id. */
export interface RowSource<Fact> {
  readonly database: Exclude<DatabaseName, 'catalog'>;
  /** For the cursor. */
  readonly name: string;
  select(scope: Scope): string;
  /** Parses what stands after the id. */
  parse(row: Row): Fact;
}

const epochMs = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8`;

/** `$1` is the order's id or the time in ms, whichever the scope names. */
const where = ({ orderId, sinceMs }: Scope, id: string, time: string) => {
  if (orderId !== undefined) return `WHERE ${id} = $1::uuid`;
  return sinceMs === undefined ? '' : `WHERE ${time} >= to_timestamp($1::float8 / 1000)`;
};

/** The parameters of `select`. */
export function parametersOf({ orderId, sinceMs }: Scope): (string | number)[] {
  if (orderId !== undefined) return [orderId];
  return sinceMs === undefined ? [] : [sinceMs];
}

const ORDER_COLUMNS = `id::text, status, reason, state, open, lines::text, total_kopiykas::float8, currency, trace_parent,
  ${epochMs('created_at')}, ${epochMs('decided_at')}, idempotency_key`;

export const orderRows: RowSource<OrderFact> = {
  database: 'orders',
  name: 'audit_orders',
  select: (scope) => `SELECT ${ORDER_COLUMNS} FROM orders ${where(scope, 'id', 'created_at')} ORDER BY id`,
  parse: ([, status, reason, state, open, lines, total, currency, traceParent, createdAt, decidedAt, key]) => ({
    status: status as OrderFact['status'],
    reason: reason as string | null,
    state: String(state),
    open: open === true,
    lines: parseLines(lines) as readonly PricedLine[],
    totalKopiykas: Number(total),
    currency: String(currency),
    traceId: traceIdOf(traceParent),
    createdAt: Number(createdAt),
    decidedAt: numberOrNone(decidedAt),
    idempotencyKey: typeof key === 'string' ? key : undefined,
  }),
};

export const outboxRows: RowSource<OutboxFact> = {
  database: 'orders',
  name: 'audit_outbox',
  select: (scope) =>
    `SELECT order_id::text, id::text, type, "TraceParent", payload::text, ${epochMs('created_at')}, ${epochMs('published_at')}
     FROM outbox ${where(scope, 'order_id', 'created_at')} ORDER BY order_id, seq`,
  parse: ([, id, type, traceParent, payload, createdAt, publishedAt]) => ({
    messageId: String(id),
    type: String(type),
    traceId: traceIdOf(traceParent),
    event: readEvent(JSON.parse(String(payload))),
    createdAt: Number(createdAt),
    publishedAt: numberOrNone(publishedAt),
  }),
};

export const paymentRows: RowSource<PaymentFact> = {
  database: 'payments',
  name: 'audit_payments',
  select: (scope) =>
    `SELECT order_id::text, state, amount_kopiykas::float8, currency, ${epochMs('updated_at')}
     FROM payments ${where(scope, 'order_id', 'created_at')} ORDER BY order_id`,
  parse: ([, state, amount, currency, changedAt]) => ({
    state: String(state),
    amountKopiykas: numberOrNone(amount),
    currency: currency === null ? undefined : String(currency),
    changedAt: Number(changedAt),
  }),
};

export const effectRows: RowSource<EffectFact> = {
  database: 'payments',
  name: 'audit_effects',
  select: (scope) =>
    `SELECT order_id::text, kind, amount_kopiykas::float8, currency, ${epochMs('created_at')}
     FROM payment_effects ${where(scope, 'order_id', 'created_at')} ORDER BY order_id, seq`,
  parse: ([, kind, amount, currency, changedAt]) => ({
    kind: String(kind),
    amountKopiykas: Number(amount),
    currency: String(currency),
    changedAt: Number(changedAt),
  }),
};

export const reservationRows: RowSource<ReservationFact> = {
  database: 'stock',
  name: 'audit_reservations',
  select: (scope) =>
    `SELECT order_id::text, state, lines::text, ${epochMs('coalesce(released_at, created_at)')}
     FROM reservations ${where(scope, 'order_id', 'created_at')} ORDER BY order_id`,
  parse: ([, state, lines, changedAt]) => ({
    state: String(state),
    lines: parseLines(lines),
    changedAt: Number(changedAt),
  }),
};

export const inboxRows: RowSource<InboxFact> = {
  database: 'shipping',
  name: 'audit_inbox',
  select: (scope) =>
    `SELECT order_id::text, message_id::text, type, ${epochMs('received_at')}
     FROM inbox ${where(scope, 'order_id', 'received_at')} ORDER BY order_id`,
  parse: ([, messageId, type, changedAt]) => ({
    messageId: String(messageId),
    type: String(type),
    changedAt: Number(changedAt),
  }),
};

export const shipmentRows: RowSource<ShipmentFact> = {
  database: 'shipping',
  name: 'audit_shipments',
  select: (scope) =>
    `SELECT "OrderId"::text, "Id"::text, "Lines"::text, ${epochMs('"CreatedAt"')}
     FROM "Shipments" ${where(scope, '"OrderId"', '"CreatedAt"')} ORDER BY "OrderId"`,
  parse: ([, id, lines, changedAt]) => ({
    shipmentId: String(id),
    lines: parseLines(lines),
    changedAt: Number(changedAt),
  }),
};

export const parcelRows: RowSource<ParcelFact> = {
  database: 'shipping',
  name: 'audit_parcels',
  select: (scope) =>
    `SELECT order_id::text, lines::text, ${epochMs('created_at')}
     FROM parcels ${where(scope, 'order_id', 'created_at')} ORDER BY order_id`,
  parse: ([, lines, changedAt]) => ({ lines: parseLines(lines), changedAt: Number(changedAt) }),
};

/** The columns are ours and NOT NULL; what is not a list of lines reads as none, which no order has. */
function parseLines(text: Row[number] | undefined): readonly Line[] {
  const lines: unknown = JSON.parse(String(text ?? '[]'));
  return Array.isArray(lines) ? (lines as Line[]) : [];
}

function numberOrNone(value: Row[number] | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

/** The trace id of a W3C `traceparent`. */
function traceIdOf(traceParent: Row[number] | undefined): string | undefined {
  return typeof traceParent === 'string' ? traceParent.split('-')[1] : undefined;
}
