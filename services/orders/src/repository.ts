import { type Queryable, sql } from '@shop/kit/database.ts';
import { databaseLimits } from '@shop/kit/edges.ts';
import type { PurgeLimits } from '@shop/kit/retention.ts';
import { ageInSeconds } from './age.ts';
import type { ConfirmationEvent } from './events.ts';
import { isEnded, type OrderLine, type OrderStatus, type Saga, type SagaState, statusOf } from './saga/saga.ts';

/** What a client may see of an order, and what a replay needs. */
export interface OrderRecord {
  readonly id: string;
  readonly status: OrderStatus | null;
  readonly reason: string | null;
  readonly lines: readonly OrderLine[];
  readonly totalKopiykas: number;
  readonly currency: string;
  readonly createdAt: Date;
  readonly requestHash: string | null;
}

export interface NewOrder {
  readonly saga: Saga;
  readonly customer: string;
  readonly owner: string;
  readonly traceParent: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly requestHash: string | undefined;
}

/** A saga as recovery finds it. */
export interface StoredSaga {
  readonly saga: Saga;
  readonly owner: string;
  readonly traceParent: string | null;
  readonly createdAt: Date;
}

interface OrderRow {
  id: string;
  status: OrderStatus | null;
  reason: string | null;
  lines: OrderLine[];
  total_kopiykas: string;
  currency: string;
  created_at: Date;
  request_hash: string | null;
}

interface SagaRow extends OrderRow {
  state: SagaState;
  version: number;
  pending: Saga['pending'];
  attempts: number;
  last_error: string | null;
  owner: string;
  trace_parent: string | null;
}

const insertOrder = sql(
  'INSERT orders: started',
  `INSERT INTO orders (id, customer, lines, total_kopiykas, currency, state, owner, trace_parent, idempotency_key, request_hash)
   VALUES ($1, $2, $3, $4, $5, 'Started', $6, $7, $8, $9)
   ON CONFLICT (idempotency_key) DO NOTHING`,
);

const saveSaga = sql(
  'UPDATE orders: save saga',
  `UPDATE orders
   SET state = $4, version = $5, status = $6, reason = $7, pending = $8, attempts = $9, last_error = $10, open = $11,
       next_attempt_at = now() + $12 * interval '1 millisecond',
       decided_at = CASE WHEN $6::text IS NULL THEN NULL ELSE coalesce(decided_at, now()) END, updated_at = now()
   WHERE id = $1 AND version = $2 AND owner = $3`,
);

/** The pivot: status, saga and outbox row in one statement, or none of them. */
export const confirmOrder = sql(
  'UPDATE orders, INSERT outbox: confirm',
  `WITH confirmed AS (
     UPDATE orders
     SET state = 'Confirmed', status = 'Confirmed', version = $4, open = false, decided_at = now(), updated_at = now()
     WHERE id = $1 AND version = $2 AND owner = $3
     RETURNING id)
   INSERT INTO outbox (id, order_id, type, payload, "TraceParent")
   SELECT $5, id, $6, $7, $8 FROM confirmed`,
);

/** The same with the other versions of the event beside it, `$9` a JSON list of them. */
const confirmWithVersions = sql(
  'UPDATE orders, INSERT outbox: confirm with versions',
  `${confirmOrder.text}
   UNION ALL
   SELECT (event ->> 'id')::uuid, confirmed.id, event ->> 'type', event, $8
   FROM confirmed, jsonb_array_elements($9::jsonb) AS event`,
);

const ORDER_COLUMNS = 'id, status, reason, lines, total_kopiykas, currency, created_at, request_hash';

const selectOrder = sql('SELECT orders: by id', `SELECT ${ORDER_COLUMNS} FROM orders WHERE id = $1`);
const selectByKey = sql(
  'SELECT orders: by idempotency key',
  `SELECT ${ORDER_COLUMNS} FROM orders WHERE idempotency_key = $1`,
);
const selectVersion = sql('SELECT orders: version', 'SELECT version, owner, state FROM orders WHERE id = $1');

/**
 * For how long a row of our own is left alone after its last change, in ms: longer than this statement can wait. What was
 * inserted after the list of active sagas had been made, and before the statement read the table, is not an orphan.
 */
const OWN_GRACE_MS = databaseLimits.connectTimeoutMs + databaseLimits.statementTimeoutMs + 1_000;

/**
 * Adopts idle sagas: their owner's lease has expired or is missing, or they are our own, not in the list of active ones,
 * and due or untouched for a while. Two instances never get the same one: the row is locked, skipped when locked,
 * and its version raised.
 */
// Two steps, because FOR UPDATE looks again only at the row it locks. When another adopter has just committed,
// PostgreSQL evaluates the conditions on the new row of `orders`. It is joined with the row of `saga_owners` (here
// often none) that it found before. The version, a column of the locked row, makes the second adopter lose (PostgreSQL,
// 13.2.1 Read Committed).
export const adoptSagas = sql(
  'UPDATE orders: adopt',
  `WITH candidate AS MATERIALIZED (
     SELECT o.id, o.version FROM orders o LEFT JOIN saga_owners w ON w.id = o.owner
     WHERE o.open AND (o.next_attempt_at IS NULL OR o.next_attempt_at <= now())
       AND CASE WHEN o.owner = $1
             THEN o.id <> ALL ($2::uuid[])
               AND (o.next_attempt_at IS NOT NULL OR o.updated_at < now() - $4 * interval '1 millisecond')
             ELSE w.id IS NULL OR w.lease_until < now() END),
   idle AS (
     SELECT o.id FROM orders o JOIN candidate c ON c.id = o.id AND c.version = o.version
     ORDER BY o.id
     FOR UPDATE OF o SKIP LOCKED
     LIMIT $3)
   UPDATE orders SET owner = $1, version = version + 1, updated_at = now()
   FROM idle WHERE orders.id = idle.id
   RETURNING orders.*`,
);

const countUnfinished = sql(
  'SELECT orders: open',
  `SELECT count(*) FILTER (WHERE state = 'Compensating')::int AS compensating,
     ${ageInSeconds(`min(created_at) FILTER (WHERE state = 'Compensating')`)} AS "oldestCompensationAgeS",
     ${ageInSeconds(`min(created_at) FILTER (WHERE state <> 'Compensating')`)} AS "oldestUndecidedAgeS"
   FROM orders WHERE open`,
);

/**
 * The last change of an ended order is its end. No index has its time, so that changes stay heap-only; an order ended after it was
 * created, and that time has one. An order whose event may still be published, or published again, stays.
 */
const deleteOrders = sql(
  'DELETE orders: purge',
  `DELETE FROM orders WHERE id = ANY (ARRAY(
     SELECT id FROM orders o
     WHERE created_at < now() - $1 * interval '1 day' AND updated_at < now() - $1 * interval '1 day' AND NOT open
       AND NOT EXISTS (SELECT FROM outbox WHERE outbox.order_id = o.id)
     ORDER BY created_at LIMIT $2 FOR UPDATE OF o SKIP LOCKED))`,
);

/** The orders that have not ended; ages are of the oldest one, in seconds since it was placed, and 0 where there is none. */
export interface OpenOrders {
  /** Cancelled orders with compensations left. */
  readonly compensating: number;
  readonly oldestCompensationAgeS: number;
  /** Of those whose status is not durable. */
  readonly oldestUndecidedAgeS: number;
}

/** A save's outcome when its response was lost: the row says whether it was ours. */
export interface VersionRow {
  readonly version: number;
  readonly owner: string;
  readonly state: SagaState;
}

/** Inserts order, lines and saga. False when the idempotency key is taken. */
export async function insertNewOrder(database: Queryable, order: NewOrder): Promise<boolean> {
  const { saga } = order;
  const { count } = await database.query(insertOrder, [
    saga.orderId,
    order.customer,
    JSON.stringify(saga.lines),
    saga.totalKopiykas,
    saga.currency,
    order.owner,
    order.traceParent ?? null,
    order.idempotencyKey ?? null,
    order.requestHash ?? null,
  ]);
  return count === 1;
}

/** Compare-and-set of a saga; `dueInMs` is when a waiting one is due again, null for immediately. */
export async function updateSaga(
  database: Queryable,
  options: { before: Saga; after: Saga; owner: string; dueInMs: number | null },
): Promise<boolean> {
  const { before, after } = options;
  const { count } = await database.query(saveSaga, [
    after.orderId,
    before.version,
    options.owner,
    after.state,
    after.version,
    statusOf(after.state),
    after.reason,
    JSON.stringify(after.pending),
    after.attempts,
    after.lastError,
    !isEnded(after.state),
    options.dueInMs,
  ]);
  return count === 1;
}

/** Compare-and-set to Confirmed together with the order's events, one per version; false when it was not ours. */
export async function confirmSaga(
  database: Queryable,
  options: {
    before: Saga;
    after: Saga;
    owner: string;
    events: readonly [ConfirmationEvent, ...ConfirmationEvent[]];
    traceParent: string | undefined;
  },
): Promise<boolean> {
  const { before, after } = options;
  const [event, ...others] = options.events;
  const values = [
    after.orderId,
    before.version,
    options.owner,
    after.version,
    event.id,
    event.type,
    JSON.stringify(event),
    options.traceParent ?? null,
  ];
  const { count } =
    others.length === 0
      ? await database.query(confirmOrder, values)
      : await database.query(confirmWithVersions, [...values, JSON.stringify(others)]);
  return count === options.events.length;
}

export async function findOrder(database: Queryable, id: string): Promise<OrderRecord | undefined> {
  const { rows } = await database.query<OrderRow>(selectOrder, [id]);
  return rows[0] && toOrder(rows[0]);
}

export async function findOrderByKey(database: Queryable, key: string): Promise<OrderRecord | undefined> {
  const { rows } = await database.query<OrderRow>(selectByKey, [key]);
  return rows[0] && toOrder(rows[0]);
}

export async function findVersion(database: Queryable, id: string): Promise<VersionRow | undefined> {
  const { rows } = await database.query<VersionRow>(selectVersion, [id]);
  return rows[0];
}

export async function adoptIdleSagas(
  database: Queryable,
  options: { owner: string; activeIds: readonly string[]; limit: number },
): Promise<readonly StoredSaga[]> {
  const { rows } = await database.query<SagaRow>(adoptSagas, [
    options.owner,
    options.activeIds,
    options.limit,
    OWN_GRACE_MS,
  ]);
  return rows.map((row) => ({
    saga: toSaga(row),
    owner: row.owner,
    traceParent: row.trace_parent,
    createdAt: row.created_at,
  }));
}

export async function countOpen(database: Queryable): Promise<OpenOrders> {
  const { rows } = await database.query<OpenOrders>(countUnfinished, []);
  return rows[0] ?? { compensating: 0, oldestCompensationAgeS: 0, oldestUndecidedAgeS: 0 };
}

/** Deletes at most `limit` orders that ended more than `days` ago; returns how many. */
export async function purgeOrders(database: Queryable, { days, limit }: PurgeLimits): Promise<number> {
  return (await database.query(deleteOrders, [days, limit])).count;
}

function toOrder(row: OrderRow): OrderRecord {
  return {
    id: row.id,
    status: row.status,
    reason: row.reason,
    lines: row.lines,
    totalKopiykas: Number(row.total_kopiykas),
    currency: row.currency,
    createdAt: row.created_at,
    requestHash: row.request_hash,
  };
}

function toSaga(row: SagaRow): Saga {
  return {
    orderId: row.id,
    lines: row.lines,
    totalKopiykas: Number(row.total_kopiykas),
    currency: row.currency,
    state: row.state,
    version: row.version,
    reason: row.reason as Saga['reason'],
    pending: row.pending,
    attempts: row.attempts,
    lastError: row.last_error,
  };
}
