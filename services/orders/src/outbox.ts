import type { Context } from '@opentelemetry/api';
import { type Queryable, sql } from '@shop/kit/database.ts';
import type { PurgeLimits } from '@shop/kit/retention.ts';
import { ageInSeconds } from './age.ts';

export interface OutboxRow {
  readonly id: string;
  readonly orderId: string;
  readonly type: string;
  /** The event as JSON text: it is passed on as the database has it. */
  readonly payload: string;
  readonly traceParent: string | null;
}

interface Row {
  id: string;
  order_id: string;
  type: string;
  payload: string;
  TraceParent: string | null;
}

/** Locked rows belong to the relay that holds the transaction; others skip them, and get them when it ends. */
const claim = sql(
  'SELECT outbox: claim',
  `SELECT id, order_id, type, payload::text AS payload, "TraceParent" FROM outbox
   WHERE published_at IS NULL ORDER BY seq LIMIT $1 FOR UPDATE SKIP LOCKED`,
);
const mark = sql(
  'UPDATE outbox: published',
  'UPDATE outbox SET published_at = clock_timestamp() WHERE id = ANY ($1::uuid[])',
);
const count = sql(
  'SELECT outbox: pending',
  `SELECT count(*)::int AS count, ${ageInSeconds('min(created_at)')} AS "oldestAgeS"
   FROM outbox WHERE published_at IS NULL`,
);
const purge = sql(
  'DELETE outbox: purge',
  `DELETE FROM outbox WHERE id = ANY (ARRAY(
     SELECT id FROM outbox WHERE published_at < now() - $1 * interval '1 day' ORDER BY published_at LIMIT $2
     FOR UPDATE SKIP LOCKED))`,
);

export async function claimUnpublished(transaction: Queryable, limit: number): Promise<readonly OutboxRow[]> {
  const { rows } = await transaction.query<Row>(claim, [limit]);
  return rows.map((row) => ({
    id: row.id,
    orderId: row.order_id,
    type: row.type,
    payload: row.payload,
    traceParent: row.TraceParent,
  }));
}

/** `causes`: the contexts in which the rows are relayed. */
export async function markPublished(
  transaction: Queryable,
  ids: readonly string[],
  causes?: readonly Context[],
): Promise<void> {
  await transaction.query(mark, [ids], causes);
}

/** Unpublished events, and for how many seconds the oldest of them has waited; 0 where there is none. */
export interface Pending {
  readonly count: number;
  readonly oldestAgeS: number;
}

export async function countPending(database: Queryable): Promise<Pending> {
  const { rows } = await database.query<Pending>(count, []);
  return rows[0] ?? { count: 0, oldestAgeS: 0 };
}

/** Deletes at most `limit` rows published more than `days` ago; returns how many. */
export async function purgePublished(database: Queryable, options: PurgeLimits): Promise<number> {
  const result = await database.query(purge, [options.days, options.limit]);
  return result.count;
}
