import type { Result, Statement } from '@shop/kit/database.ts';
import { type CompensationName, isEnded, type OrderLine, type SagaState, statusOf } from '../saga/saga.ts';
import type { StatementName } from './faults.ts';
import type { Journal } from './journal.ts';

/** A row of `orders`, with the columns that the service reads or compares. */
export interface OrderRow {
  readonly id: string;
  readonly lines: readonly OrderLine[];
  readonly total_kopiykas: number;
  readonly currency: string;
  status: string | null;
  reason: string | null;
  state: SagaState;
  open: boolean;
  version: number;
  owner: string;
  pending: readonly CompensationName[];
  attempts: number;
  last_error: string | null;
  next_attempt_at: number | null;
  readonly trace_parent: string | null;
  readonly idempotency_key: string | null;
  readonly request_hash: string | null;
  readonly created_at: Date;
  updated_at: number;
}

export interface OutboxEntry {
  readonly id: string;
  readonly order_id: string;
  readonly type: string;
  readonly payload: string;
  readonly TraceParent: string | null;
  published: boolean;
  /** The transaction that has the row, as FOR UPDATE SKIP LOCKED sees it. */
  lockedBy: object | undefined;
}

/** Seeded defects of the database, to see that the simulation finds them. */
export interface StoreDefects {
  readonly saveIgnoresVersion?: boolean;
  readonly confirmForgetsOutbox?: boolean;
  readonly adoptIgnoresLease?: boolean;
  readonly adoptIgnoresGrace?: boolean;
}

type Values = readonly unknown[];
type Apply = (values: Values, transaction: object | undefined) => Result<object>;

/** The database of the orders service in memory: the same statements, by name, with the same meaning. */
export interface OrdersStore {
  readonly orders: ReadonlyMap<string, OrderRow>;
  readonly outbox: readonly OutboxEntry[];
  /** What kind of statement this is, for the fault plan. Throws when the store does not know it. */
  kindOf(statement: Statement): StatementName;
  apply(statement: Statement, values: Values, transaction?: object): Result<object>;
  /** The driver of `id` in the process that owns it, undefined when none drives it. */
  isActive: (owner: string, id: string) => boolean;
}

export function createOrdersStore(options: {
  now: () => number;
  journal: Journal;
  defects: StoreDefects;
}): OrdersStore {
  const { now, journal, defects } = options;
  const orders = new Map<string, OrderRow>();
  const outbox: OutboxEntry[] = [];
  const leases = new Map<string, number>();

  function held(id: unknown, version: unknown, owner: unknown): OrderRow | undefined {
    const row = orders.get(id as string);
    if (row === undefined || row.owner !== owner) return undefined;
    return row.version === version || defects.saveIgnoresVersion ? row : undefined;
  }

  function change(row: OrderRow, changes: Partial<OrderRow>): void {
    const before = row.status;
    Object.assign(row, changes, { updated_at: now() });
    journal.note('database', `${shortId(row.id)} v${row.version} ${row.state} ${row.pending.join(', ')}`);
    if (before !== null && before !== row.status) journal.violated(`I2 ${shortId(row.id)} ${before} -> ${row.status}`);
    checkConstraints(row);
  }

  /** The CHECKs of the migration. */
  function checkConstraints(row: OrderRow): void {
    const consistent =
      row.open === !isEnded(row.state) &&
      row.status === statusOf(row.state) &&
      (row.reason !== null) === (row.status === 'Cancelled');
    if (!consistent) journal.violated(`CHECK of ${shortId(row.id)} in ${row.state}`);
  }

  const statements: Record<string, readonly [StatementName, Apply]> = {
    'INSERT orders: started': [
      'insert',
      ([id, , lines, total, currency, owner, trace, key, hash]) => {
        if (key !== null && [...orders.values()].some((row) => row.idempotency_key === key)) return NOTHING;
        const row: OrderRow = {
          id: id as string,
          lines: JSON.parse(lines as string),
          total_kopiykas: total as number,
          currency: currency as string,
          status: null,
          reason: null,
          state: 'Started',
          open: true,
          version: 1,
          owner: owner as string,
          pending: [],
          attempts: 0,
          last_error: null,
          next_attempt_at: null,
          trace_parent: trace as string | null,
          idempotency_key: key as string | null,
          request_hash: hash as string | null,
          created_at: new Date(),
          updated_at: now(),
        };
        orders.set(row.id, row);
        journal.note('database', `${shortId(row.id)} v1 Started`);
        return changed(1);
      },
    ],
    'UPDATE orders: save saga': [
      'save',
      (values) => {
        const [id, before, owner, state, version, status, reason, pending, attempts, lastError, open, dueInMs] = values;
        const row = held(id, before, owner);
        if (row === undefined) return NOTHING;
        change(row, {
          state: state as SagaState,
          version: version as number,
          status: status as string | null,
          reason: reason as string | null,
          pending: JSON.parse(pending as string),
          attempts: attempts as number,
          last_error: lastError as string | null,
          open: open as boolean,
          next_attempt_at: dueInMs === null ? null : now() + (dueInMs as number),
        });
        return changed(1);
      },
    ],
    'UPDATE orders, INSERT outbox: confirm': [
      'confirm',
      (values) => {
        const [id, before, owner, version, eventId, type, payload, traceParent] = values;
        const row = held(id, before, owner);
        if (row === undefined) return NOTHING;
        if (outbox.some((entry) => entry.order_id === id && entry.type === type)) {
          journal.violated(`UNIQUE outbox (order_id, type) of ${shortId(row.id)}`);
        }
        change(row, { state: 'Confirmed', status: 'Confirmed', version: version as number, open: false });
        if (defects.confirmForgetsOutbox) return changed(1);
        outbox.push({
          id: eventId as string,
          order_id: row.id,
          type: type as string,
          payload: payload as string,
          TraceParent: traceParent as string | null,
          published: false,
          lockedBy: undefined,
        });
        return changed(1);
      },
    ],
    'SELECT orders: by id': ['read', ([id]) => found([...orders.values()].filter((row) => row.id === id))],
    'SELECT orders: by idempotency key': [
      'read',
      ([key]) => found([...orders.values()].filter((row) => row.idempotency_key === key)),
    ],
    'SELECT orders: version': ['read', ([id]) => found([...orders.values()].filter((row) => row.id === id))],
    'UPDATE orders: adopt': [
      'adopt',
      ([owner, activeIds, limit, graceMs]) => {
        const idle = [...orders.values()].filter((row) =>
          isIdle(row, { owner, activeIds, graceMs } as {
            owner: string;
            activeIds: readonly string[];
            graceMs: number;
          }),
        );
        const adopted = idle.slice(0, limit as number);
        for (const row of adopted) {
          const held = row.owner === owner || leaseHolds(row.owner);
          if (held && store.isActive(row.owner, row.id)) {
            journal.violated(`${shortId(row.id)} was adopted from an active run whose lease holds`);
          }
          change(row, { owner: owner as string, version: row.version + 1 });
          journal.note('database', `${shortId(row.id)} was adopted`);
        }
        return found(adopted);
      },
    ],
    'SELECT orders: open': [
      'count',
      () => {
        const compensating = [...orders.values()].filter((row) => row.open && row.state === 'Compensating').length;
        // Ages are for readers of metrics; nothing is decided by them.
        return found([{ compensating, oldestCompensationAgeS: 0, oldestUndecidedAgeS: 0 }]);
      },
    ],
    'INSERT saga_owners: renew': [
      'renew',
      ([id, , leaseMs]) => {
        leases.set(id as string, now() + (leaseMs as number));
        return changed(1);
      },
    ],
    'DELETE saga_owners: old': ['renew', () => NOTHING],
    'SELECT outbox: claim': [
      'claim',
      ([limit], transaction) => {
        const free = outbox
          .filter((entry) => !entry.published && entry.lockedBy === undefined)
          .slice(0, limit as number);
        for (const entry of free) entry.lockedBy = transaction;
        return found(free);
      },
    ],
    'UPDATE outbox: published': [
      'mark',
      ([ids]) => {
        const marked = outbox.filter(({ id }) => (ids as readonly string[]).includes(id));
        for (const entry of marked) entry.published = true;
        return changed(marked.length);
      },
    ],
    'SELECT outbox: pending': [
      'count',
      () => found([{ count: outbox.filter(({ published }) => !published).length, oldestAgeS: 0 }]),
    ],
  };

  /** The WHERE clause of the adoption. */
  function isIdle(
    row: OrderRow,
    { owner, activeIds, graceMs }: { owner: string; activeIds: readonly string[]; graceMs: number },
  ): boolean {
    if (!row.open || (row.next_attempt_at !== null && row.next_attempt_at > now())) return false;
    if (row.owner === owner) {
      const untouched = defects.adoptIgnoresGrace || row.updated_at < now() - graceMs;
      return !activeIds.includes(row.id) && (row.next_attempt_at !== null || untouched);
    }
    return defects.adoptIgnoresLease || !leaseHolds(row.owner);
  }

  function leaseHolds(owner: string): boolean {
    return (leases.get(owner) ?? Number.NEGATIVE_INFINITY) >= now();
  }

  function lookUp({ name }: Statement) {
    const known = statements[name];
    if (known === undefined) throw new Error(`the simulated database does not know the statement "${name}"`);
    return known;
  }

  const store: OrdersStore = {
    orders,
    outbox,
    kindOf: (statement) => lookUp(statement)[0],
    apply: (statement, values, transaction) => lookUp(statement)[1](values, transaction),
    isActive: () => false,
  };
  return store;
}

const NOTHING: Result<object> = { rows: [], count: 0 };

function changed(count: number): Result<object> {
  return { rows: [], count };
}

/** Copies, because a row that was read does not change with the table. */
function found(rows: readonly object[]): Result<object> {
  return { rows: rows.map((row) => ({ ...row })), count: rows.length };
}

/** Enough of an order's id to identify it in a journal. */
export function shortId(orderId: string): string {
  return `#${orderId.slice(0, 8)}`;
}
