import type { ShopDatabases } from './databases.ts';
import { type IdRange, requireUnique } from './id-prefix.ts';

export type SagaState = 'Started' | 'StockReserved' | 'PaymentCharged' | 'Confirmed' | 'Compensating' | 'Cancelled';
export const sagaStates: readonly SagaState[] = [
  'Started',
  'StockReserved',
  'PaymentCharged',
  'Confirmed',
  'Compensating',
  'Cancelled',
];

/** The instance of the orders service that drives a saga, as its lease says. */
interface Owner {
  readonly id: string;
  /** `orders-1`; null when the instance has ended and its lease is gone. */
  readonly instance: string | null;
  readonly leaseUntil: Date | null;
  readonly alive: boolean;
}

interface OrderLine {
  readonly productId: number;
  readonly quantity: number;
  readonly priceKopiykas: number;
}

/** An order and its saga, without its customer. */
export interface OrderRow {
  readonly id: string;
  /** Null while the saga runs. */
  readonly status: 'Confirmed' | 'Cancelled' | null;
  readonly reason: string | null;
  readonly state: SagaState;
  readonly open: boolean;
  readonly version: number;
  readonly owner: Owner;
  /** Compensations that have not succeeded yet. */
  readonly pending: readonly string[];
  /** Rounds of compensation that left something pending. */
  readonly attempts: number;
  readonly lastError: string | null;
  readonly nextAttemptAt: Date | null;
  readonly traceId: string | null;
  readonly lines: readonly OrderLine[];
  readonly totalKopiykas: number;
  readonly currency: string;
  readonly createdAt: Date;
  readonly decidedAt: Date | null;
  readonly updatedAt: Date;
  /** The database's clock when the row was read; ages are counted by it. */
  readonly readAt: Date;
}

interface Columns {
  id: string;
  status: OrderRow['status'];
  reason: string | null;
  state: SagaState;
  open: boolean;
  version: number;
  owner: string;
  owner_instance: string | null;
  lease_until: Date | null;
  owner_alive: boolean | null;
  pending: string[];
  attempts: number;
  last_error: string | null;
  next_attempt_at: Date | null;
  trace_parent: string | null;
  lines: OrderLine[];
  total_kopiykas: string;
  currency: string;
  created_at: Date;
  decided_at: Date | null;
  updated_at: Date;
  read_at: Date;
}

const SELECT = `
  SELECT o.id, o.status, o.reason, o.state, o.open, o.version, o.owner, w.instance AS owner_instance, w.lease_until,
         w.lease_until > now() AS owner_alive, o.pending, o.attempts, o.last_error, o.next_attempt_at, o.trace_parent,
         o.lines, o.total_kopiykas, o.currency, o.created_at, o.decided_at, o.updated_at, now() AS read_at
  FROM orders o LEFT JOIN saga_owners w ON w.id = o.owner`;

/** How many candidates an ambiguous prefix names. */
const CANDIDATES = 5;

/** The full id of the only order in the range. Throws CliError (1) when there is none, or several. */
export async function findOrderId(databases: ShopDatabases, range: IdRange): Promise<string> {
  const rows = await databases.query<{ id: string }>(
    'orders',
    'SELECT id FROM orders WHERE id BETWEEN $1 AND $2 ORDER BY id LIMIT $3',
    [range.lowest, range.highest, CANDIDATES],
  );
  return requireUnique(
    rows.map(({ id }) => id),
    range,
    'order',
    'shopctl order list',
  );
}

/** The only order in the range. Throws as findOrderId does. */
export async function readOrder(databases: ShopDatabases, range: IdRange): Promise<OrderRow> {
  const id = await findOrderId(databases, range);
  const [row] = await databases.query<Columns>('orders', `${SELECT} WHERE o.id = $1`, [id]);
  // Orders are never deleted, so a row that was just found is still there.
  return toOrder(row as Columns);
}

/** The customer's name. Print it only when it was asked for. */
export async function readCustomer(databases: ShopDatabases, orderId: string): Promise<string | null> {
  const [row] = await databases.query<{ customer: string }>('orders', 'SELECT customer FROM orders WHERE id = $1', [
    orderId,
  ]);
  return row?.customer ?? null;
}

export interface OrderFilter {
  /** `open`: its saga has not ended. */
  readonly status?: 'Confirmed' | 'Cancelled' | 'open' | undefined;
  readonly limit: number;
}

/** Newest first. */
export async function listOrders(databases: ShopDatabases, { status, limit }: OrderFilter): Promise<OrderRow[]> {
  const rows = await databases.query<Columns>(
    'orders',
    `${SELECT} WHERE $1::text IS NULL OR o.status = $1 OR ($1 = 'open' AND o.open) ORDER BY o.created_at DESC LIMIT $2`,
    [status ?? null, limit],
  );
  return rows.map(toOrder);
}

/** Open sagas, the oldest first. */
export async function listOpenSagas(databases: ShopDatabases, limit: number): Promise<OrderRow[]> {
  const rows = await databases.query<Columns>('orders', `${SELECT} WHERE o.open ORDER BY o.created_at LIMIT $1`, [
    limit,
  ]);
  return rows.map(toOrder);
}

/** Ended sagas, the newest first. */
export async function listEndedSagas(
  databases: ShopDatabases,
  { state, limit }: { readonly state?: SagaState | undefined; readonly limit: number },
): Promise<OrderRow[]> {
  const rows = await databases.query<Columns>(
    'orders',
    `${SELECT} WHERE NOT o.open AND ($1::text IS NULL OR o.state = $1) ORDER BY o.created_at DESC LIMIT $2`,
    [state ?? null, limit],
  );
  return rows.map(toOrder);
}

function toOrder(row: Columns): OrderRow {
  return {
    id: row.id,
    status: row.status,
    reason: row.reason,
    state: row.state,
    open: row.open,
    version: row.version,
    owner: {
      id: row.owner,
      instance: row.owner_instance,
      leaseUntil: row.lease_until,
      alive: row.owner_alive === true,
    },
    pending: row.pending,
    attempts: row.attempts,
    lastError: row.last_error,
    nextAttemptAt: row.next_attempt_at,
    traceId: traceIdOf(row.trace_parent),
    lines: row.lines,
    totalKopiykas: Number(row.total_kopiykas),
    currency: row.currency,
    createdAt: row.created_at,
    decidedAt: row.decided_at,
    updatedAt: row.updated_at,
    readAt: row.read_at,
  };
}

/** The trace id of a W3C traceparent (`00-<trace id>-<span id>-<flags>`), or null. */
export function traceIdOf(traceParent: string | null): string | null {
  return /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(traceParent ?? '')?.[1] ?? null;
}
