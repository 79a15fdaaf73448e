import pg from 'pg';
import type { DatabaseName } from '../../../cli/src/topology/databases.ts';
import type { DatabaseUrls } from './databases.ts';

/** An id that depends on its number alone, so that five databases agree on their orders without talking. */
const ID = `md5('order ' || n)::uuid`;
const LINES = `'[{"productId": 1, "quantity": 1, "priceKopiykas": 45000}]'::jsonb`;
const SHORT_LINES = `'[{"productId": 1, "quantity": 1}]'::jsonb`;
/** Every order its own trace, as a client's order has. */
const TRACE_PARENT = `'00-' || md5('trace ' || n) || '-' || left(md5('span ' || n), 16) || '-01'`;
const EVENT = `jsonb_build_object('specversion', '1.0', 'id', md5('event ' || n)::uuid, 'type', 'order.confirmed',
  'source', '/shop/orders', 'time', '2026-01-01T00:00:00.000Z', 'subject', ${ID}, 'datacontenttype', 'application/json',
  'data', jsonb_build_object('orderId', ${ID}, 'lines', ${SHORT_LINES}, 'total', 45000, 'currency', 'UAH'))`;

/** Statements that make rows `from` to `to` ($1, $2), by database; catalog has no row per order. */
const CONFIRMED: Readonly<Partial<Record<DatabaseName, readonly string[]>>> = {
  orders: [
    `INSERT INTO orders (id, customer, lines, total_kopiykas, currency, status, state, open, version, owner, trace_parent,
                         decided_at)
     SELECT ${ID}, 'Bench', ${LINES}, 45000, 'UAH', 'Confirmed', 'Confirmed', false, 4, md5('owner')::uuid, ${TRACE_PARENT},
            now()
     FROM generate_series($1::int, $2::int) AS n`,
    `INSERT INTO outbox (id, order_id, type, payload, "TraceParent", published_at)
     SELECT md5('event ' || n)::uuid, ${ID}, 'order.confirmed', ${EVENT}, ${TRACE_PARENT}, now()
     FROM generate_series($1::int, $2::int) AS n`,
  ],
  stock: [
    `INSERT INTO reservations (order_id, reserve_key, state, lines)
     SELECT ${ID}, ${ID} || ':reserve', 'reserved', ${SHORT_LINES} FROM generate_series($1::int, $2::int) AS n`,
    'UPDATE inventory SET on_hand = on_hand - ($2::int - $1::int + 1) WHERE product_id = 1',
  ],
  payments: [
    `INSERT INTO payments (order_id, charge_key, amount_kopiykas, currency, state)
     SELECT ${ID}, ${ID} || ':charge', 45000, 'UAH', 'accepted' FROM generate_series($1::int, $2::int) AS n`,
    `INSERT INTO payment_effects (order_id, kind, amount_kopiykas, currency)
     SELECT ${ID}, 'charge', 45000, 'UAH' FROM generate_series($1::int, $2::int) AS n`,
  ],
  shipping: [
    `INSERT INTO inbox (message_id, type, order_id)
     SELECT md5('event ' || n)::uuid, 'order.confirmed', ${ID} FROM generate_series($1::int, $2::int) AS n`,
    `INSERT INTO "Shipments" ("OrderId", "Lines") SELECT ${ID}, ${SHORT_LINES} FROM generate_series($1::int, $2::int) AS n`,
    `INSERT INTO parcels (order_id, lines) SELECT ${ID}, ${SHORT_LINES} FROM generate_series($1::int, $2::int) AS n`,
  ],
};

/** Sagas whose process crashed right after it had inserted the order: an owner without a lease. */
const INTERRUPTED = `
  INSERT INTO orders (id, customer, lines, total_kopiykas, currency, state, owner, trace_parent)
  SELECT ${ID}, 'Bench', ${LINES}, 45000, 'UAH', 'Started', md5('owner')::uuid, ${TRACE_PARENT}
  FROM generate_series($1::int, $2::int) AS n`;

/** Events that were committed and not published, of orders that are not there. */
const BACKLOG = `
  INSERT INTO outbox (id, order_id, type, payload, "TraceParent")
  SELECT md5('event ' || n)::uuid, ${ID}, 'order.confirmed', ${EVENT}, ${TRACE_PARENT}
  FROM generate_series($1::int, $2::int) AS n`;

/** Numbers of rows, both ends included. A number is used once in a platform. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Runs `statements` as the owner of the schema, each with the values; the last one's rows. Rejects with PostgreSQL's error. */
async function runAsOwner(url: string, statements: readonly string[], values: readonly unknown[] = []) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const text of statements) ({ rows } = await client.query(text, [...values]));
    return rows;
  } finally {
    await client.end();
  }
}

/**
 * Adds confirmed, charged, reserved and shipped orders to all tables, which balance, until there are `total`; then statistics as
 * autovacuum makes them. Throws a RangeError where there are more already. Once in a platform.
 */
export async function fillConfirmed(owners: DatabaseUrls, total: number): Promise<void> {
  const [{ placed }] = (await runAsOwner(owners.orders, ['SELECT count(*)::int AS placed FROM orders'])) as [
    { placed: number },
  ];
  if (placed > total) throw new RangeError(`${placed} orders are there already, more than ${total}`);
  for (const [name, statements] of Object.entries(CONFIRMED)) {
    await runAsOwner(owners[name as DatabaseName], statements, [1, total - placed]);
    await runAsOwner(owners[name as DatabaseName], ['VACUUM ANALYZE']);
  }
}

export async function fillInterrupted(owners: DatabaseUrls, { from, to }: Range): Promise<void> {
  await runAsOwner(owners.orders, [INTERRUPTED], [from, to]);
}

/** Adds a backlog of events. `ready` is called when all rows are written and none can be seen yet; resolves with its result. */
export async function fillBacklog<T>(owners: DatabaseUrls, { from, to }: Range, ready: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: owners.orders });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(BACKLOG, [from, to]);
    const result = await ready();
    await client.query('COMMIT');
    return result;
  } finally {
    await client.end();
  }
}

/** Takes the backlog's events out again: they belong to no order. */
export async function removeBacklog(owners: DatabaseUrls): Promise<void> {
  await runAsOwner(owners.orders, [
    'DELETE FROM outbox WHERE NOT EXISTS (SELECT FROM orders WHERE orders.id = outbox.order_id)',
  ]);
}
