import { writeFile } from 'node:fs/promises';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import type { ShopDatabases } from '../shop/databases.ts';
import type { SagaState } from '../shop/orders-table.ts';
import { countBy } from './measured.ts';

/** An order of a run, as its database knows it. */
export interface StoredOrder {
  readonly id: string;
  readonly key: string;
  /** Null while its saga runs. */
  readonly status: 'Confirmed' | 'Cancelled' | null;
  readonly reason: string | null;
  readonly state: SagaState;
}

/** Which order it is. */
type OwnOrder = Pick<StoredOrder, 'id' | 'key'>;

export type SagaOutcomes = Readonly<Record<string, number>>;

/** Every order whose Idempotency-Key begins with the run's id. */
export function readOwnOrders(databases: ShopDatabases, runId: string): Promise<readonly StoredOrder[]> {
  return databases.query<StoredOrder>(
    'orders',
    'SELECT id::text, idempotency_key AS key, status, reason, state FROM orders WHERE starts_with(idempotency_key, $1)',
    [`${runId}-`],
  );
}

/** How many sagas ended how, the most frequent first. */
export function sagaOutcomes(own: readonly Pick<StoredOrder, 'status' | 'reason' | 'state'>[]): SagaOutcomes {
  return countBy(own, ({ status, reason, state }) =>
    status === null ? `open: ${state}` : reason === null ? status : `${status}: ${reason}`,
  );
}

interface Line {
  readonly orderId?: string | undefined;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly time?: number;
}

/**
 * The responses of clients, in the form of `audit --history`. A request without a clear response is looked up by its
 * key, and so is one that was cut off before it had a record. Its order is recovered, not unexpected. Where a response
 * said that nothing was recorded, an order would be unexpected, and is left to the audit to find.
 */
export function historyLines(records: readonly OrderRecord[], own: readonly OwnOrder[]): readonly Line[] {
  const byKey = Map.groupBy(records, ({ key }) => key);
  const reported = records.map(({ orderId, status, reason, at }) => ({
    orderId,
    status: status ?? 'rejected',
    reason,
    time: at,
  }));
  const unclear = own.filter(({ key }) => (byKey.get(key) ?? []).every((record) => !isDecided(record)));
  const recovered = unclear.filter(({ key }) => {
    const sent = byKey.get(key);
    return sent === undefined || sent.some(mayHaveTakenEffect);
  });
  return [...reported, ...recovered.map(({ id }) => ({ orderId: id, status: 'unclear' }))];
}

/** Unexpected orders of the run, by the responses that its clients received. */
export function unexpectedOrderIds(records: readonly OrderRecord[], own: readonly OwnOrder[]): readonly string[] {
  const askedFor = new Set(historyLines(records, own).map(({ orderId }) => orderId));
  return own.map(({ id }) => id).filter((id) => !askedFor.has(id));
}

function isDecided({ orderId, status }: OrderRecord): boolean {
  return orderId !== undefined && status !== undefined;
}

/**
 * No response, a time limit on the way, or another request with this key in progress; other problems say that nothing
 * was recorded.
 */
function mayHaveTakenEffect({ http }: OrderRecord): boolean {
  return http === 0 || http === 409 || http === 500 || http === 502 || http === 504;
}

/** Keys that more than one order has: idempotency was broken. */
export function repeatedKeys(own: readonly OwnOrder[]): readonly string[] {
  return [...Map.groupBy(own, ({ key }) => key)].flatMap(([key, orders]) => (orders.length > 1 ? [key] : []));
}

export async function writeHistory(file: string, lines: readonly Line[]): Promise<void> {
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 });
}

/** The trace that an order's saga is in; undefined when the order is not known. */
export async function storedTrace(databases: ShopDatabases, orderId: string): Promise<string | undefined> {
  const [row] = await databases.query<{ trace_parent: string | null }>(
    'orders',
    'SELECT trace_parent FROM orders WHERE id = $1',
    [orderId],
  );
  return row?.trace_parent?.split('-')[1];
}
