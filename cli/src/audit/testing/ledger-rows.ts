/** What orders leave in four databases, as SQL that their owners run. */

export interface LedgerOrder {
  readonly id: string;
  readonly kind: 'confirmed' | 'declined' | 'out of stock' | 'refunded';
  readonly productId: number;
  readonly quantity: number;
  readonly priceKopiykas: number;
  /** How long ago each thing happened, in days; an hour unless said otherwise. */
  readonly placed?: number;
  /** The end of its saga, and the last change of its payment and its reservation. */
  readonly ended?: number;
  readonly published?: number;
  readonly shipped?: number;
}

type Database = 'orders' | 'payments' | 'stock' | 'shipping';

const HOUR = 1 / 24;
const ago = (days: number) => `now() - ${days} * interval '1 day'`;
const traceOf = (id: string) => `00-${id.replaceAll('-', '')}-00f067aa0ba902b7-01`;

/** Id of the event of an order. */
export function messageOf(orderId: string): string {
  return `e${orderId.slice(1)}`;
}

const REASONS = {
  declined: `'payment declined'`,
  'out of stock': `'out of stock'`,
  refunded: `'payment unavailable'`,
  confirmed: 'NULL',
} as const;
const PAYMENTS = {
  confirmed: 'accepted',
  declined: 'declined',
  refunded: 'refunded',
  'out of stock': undefined,
} as const;
const RESERVATIONS = {
  confirmed: 'reserved',
  declined: 'released',
  refunded: 'released',
  'out of stock': 'insufficient',
} as const;

/** All rows of these orders by database; units of confirmed ones leave the inventory. */
export function rowsOf(orders: readonly LedgerOrder[]): Record<Database, string> {
  const join = (rows: (order: LedgerOrder) => string) => orders.map(rows).join('\n');
  return {
    orders: join((order) => orderRow(order) + (order.kind === 'confirmed' ? eventRow(order) : '')),
    payments: join(paymentRows),
    stock: join(reservationRows),
    shipping: join((order) => (order.kind === 'confirmed' ? shipmentRows(order) : '')),
  };
}

const totalOf = ({ quantity, priceKopiykas }: LedgerOrder) => quantity * priceKopiykas;
const unitsOf = ({ productId, quantity }: LedgerOrder) => JSON.stringify([{ productId, quantity }]);

function orderRow(order: LedgerOrder): string {
  const { id, kind, productId, quantity, priceKopiykas, placed = HOUR, ended = placed } = order;
  const status = kind === 'confirmed' ? 'Confirmed' : 'Cancelled';
  const lines = JSON.stringify([{ productId, quantity, priceKopiykas }]);
  return `INSERT INTO orders (id, customer, lines, total_kopiykas, currency, status, reason, state, open, owner, trace_parent, created_at, decided_at, updated_at)
    VALUES ('${id}', 'Test', '${lines}', ${totalOf(order)}, 'UAH', '${status}', ${REASONS[kind]}, '${status}', false, gen_random_uuid(), '${traceOf(id)}',
      ${ago(placed)}, ${ago(ended)}, ${ago(ended)});`;
}

function eventRow(order: LedgerOrder): string {
  const { id, placed = HOUR, ended = placed, published = ended } = order;
  const data = { orderId: id, total: totalOf(order), currency: 'UAH', lines: JSON.parse(unitsOf(order)) };
  const payload = JSON.stringify({ id: messageOf(id), type: 'order.confirmed', source: '/shop/orders', data });
  return `INSERT INTO outbox (id, order_id, type, payload, "TraceParent", created_at, published_at)
    VALUES ('${messageOf(id)}', '${id}', 'order.confirmed', '${payload}', '${traceOf(id)}', ${ago(ended)}, ${ago(published)});`;
}

function paymentRows(order: LedgerOrder): string {
  const { id, kind, placed = HOUR, ended = placed } = order;
  const state = PAYMENTS[kind];
  if (state === undefined) return '';
  const [charged, changed] = [ago(placed), ago(ended)];
  const effect = (what: string, time: string) =>
    `INSERT INTO payment_effects (order_id, kind, amount_kopiykas, currency, created_at) VALUES ('${id}', '${what}', ${totalOf(order)}, 'UAH', ${time});`;
  return [
    `INSERT INTO payments (order_id, charge_key, refund_key, amount_kopiykas, currency, state, created_at, updated_at)
     VALUES ('${id}', '${id}:charge', ${state === 'refunded' ? `'${id}:refund'` : 'NULL'}, ${totalOf(order)}, 'UAH', '${state}', ${charged}, ${changed});`,
    ...(state === 'declined' ? [] : [effect('charge', charged)]),
    ...(state === 'refunded' ? [effect('refund', changed)] : []),
  ].join('\n');
}

function reservationRows(order: LedgerOrder): string {
  const { id, kind, productId, quantity, placed = HOUR, ended = placed } = order;
  const state = RESERVATIONS[kind];
  const isReleased = state === 'released';
  const row = `INSERT INTO reservations (order_id, reserve_key, release_key, state, lines, insufficient_product_ids, created_at, released_at)
    VALUES ('${id}', '${id}:reserve', ${isReleased ? `'${id}:release'` : 'NULL'}, '${state}', '${unitsOf(order)}',
      ${state === 'insufficient' ? `'{${productId}}'` : `'{}'`}, ${ago(placed)}, ${isReleased ? ago(ended) : 'NULL'});`;
  if (state !== 'reserved') return row;
  return `${row} UPDATE inventory SET on_hand = on_hand - ${quantity} WHERE product_id = ${productId};`;
}

function shipmentRows(order: LedgerOrder): string {
  const { id, placed = HOUR, ended = placed, published = ended, shipped = published } = order;
  const time = ago(shipped);
  return `INSERT INTO inbox (message_id, type, order_id, received_at) VALUES ('${messageOf(id)}', 'order.confirmed', '${id}', ${time});
    INSERT INTO "Shipments" ("OrderId", "Lines", "CreatedAt") VALUES ('${id}', '${unitsOf(order)}', ${time});
    INSERT INTO parcels (order_id, lines, created_at) VALUES ('${id}', '${unitsOf(order)}', ${time});`;
}
