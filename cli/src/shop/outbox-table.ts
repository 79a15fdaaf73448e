import { EVENT_KEEP_DAYS } from '@shop/kit/keep-days.ts';
import type { ShopDatabases } from './databases.ts';
import type { IdRange } from './id-prefix.ts';

/** One event of an order, without its payload. */
export interface OutboxRow {
  readonly id: string;
  readonly seq: number;
  readonly orderId: string;
  readonly type: string;
  readonly createdAt: Date;
  /** Null while it waits for the relay. */
  readonly publishedAt: Date | null;
  /** The database's clock when the row was read. */
  readonly readAt: Date;
}

interface Columns {
  id: string;
  seq: string;
  order_id: string;
  type: string;
  created_at: Date;
  published_at: Date | null;
  read_at: Date;
}

const COLUMNS = 'id, seq, order_id, type, created_at, published_at, now() AS read_at';

/** Rows not published yet in the order in which the relay takes them. */
export async function listPendingRows(databases: ShopDatabases, limit: number): Promise<OutboxRow[]> {
  const rows = await databases.query<Columns>(
    'orders',
    `SELECT ${COLUMNS} FROM outbox WHERE published_at IS NULL ORDER BY seq LIMIT $1`,
    [limit],
  );
  return rows.map(toRow);
}

/** Published rows, the one published last first. */
export async function listPublishedRows(databases: ShopDatabases, limit: number): Promise<OutboxRow[]> {
  const rows = await databases.query<Columns>(
    'orders',
    `SELECT ${COLUMNS} FROM outbox WHERE published_at IS NOT NULL ORDER BY published_at DESC LIMIT $1`,
    [limit],
  );
  return rows.map(toRow);
}

export async function countPendingRows(databases: ShopDatabases): Promise<number> {
  const [row] = await databases.query<{ count: number }>(
    'orders',
    'SELECT count(*)::int AS count FROM outbox WHERE published_at IS NULL',
  );
  return row?.count ?? 0;
}

/** An order's rows in the order in which they were written. */
export async function listRowsOfOrder(databases: ShopDatabases, orderId: string): Promise<OutboxRow[]> {
  const rows = await databases.query<Columns>(
    'orders',
    `SELECT ${COLUMNS} FROM outbox WHERE order_id = $1 ORDER BY seq`,
    [orderId],
  );
  return rows.map(toRow);
}

/** Those of events written since then that were published, and are not on their way any more: the oldest first. */
export async function listArrivedRows(databases: ShopDatabases, since: Date): Promise<OutboxRow[]> {
  const rows = await databases.query<Columns>(
    'orders',
    `SELECT ${COLUMNS} FROM outbox
     WHERE created_at >= $1 AND published_at < now() - $2 * interval '1 second' ORDER BY seq`,
    [since, ON_THE_WAY_S],
  );
  return rows.map(toRow);
}

/** Shipping takes less to consume an event, where nothing is wrong. */
const ON_THE_WAY_S = 5;

/** At most five rows whose id lies in the range. */
export async function findRows(databases: ShopDatabases, range: IdRange): Promise<OutboxRow[]> {
  const rows = await databases.query<Columns>(
    'orders',
    `SELECT ${COLUMNS} FROM outbox WHERE id BETWEEN $1 AND $2 ORDER BY id LIMIT 5`,
    [range.lowest, range.highest],
  );
  return rows.map(toRow);
}

/** Beyond it shipping may have deleted the shipment, and would ship again (decision 0050). */
const REDRIVE_MS = EVENT_KEEP_DAYS * 24 * 3_600_000;

/** True when the event may not be published again. */
export function isTooOld({ createdAt, readAt }: OutboxRow): boolean {
  return readAt.getTime() - createdAt.getTime() > REDRIVE_MS;
}

/** Marks published rows as not published, so that the relay publishes them again; returns the ids it changed, of none that is too old. */
export async function unpublishRows(databases: ShopDatabases, ids: readonly string[]): Promise<string[]> {
  const rows = await databases.query<{ id: string }>(
    'orders',
    `UPDATE outbox SET published_at = NULL
     WHERE id = ANY ($1::uuid[]) AND published_at IS NOT NULL AND created_at >= now() - $2 * interval '1 day' RETURNING id`,
    [ids, EVENT_KEEP_DAYS],
  );
  return rows.map(({ id }) => id);
}

function toRow(row: Columns): OutboxRow {
  return {
    id: row.id,
    seq: Number(row.seq),
    orderId: row.order_id,
    type: row.type,
    createdAt: row.created_at,
    publishedAt: row.published_at,
    readAt: row.read_at,
  };
}
