import { poolSizeOf } from '@shop/kit/pool-sizes.ts';
import { poll } from '../shared/wait-until.ts';
import { databaseNames } from '../topology/databases.ts';
import type { InvariantResult } from './invariant.ts';
import { type OpenTransaction, type SessionFact, sessionsResult } from './invariants/sessions.ts';
import type { AuditTarget } from './target.ts';

/** No statement of a service takes longer than 2 s, and no transaction has more than a batch of them. In ms. */
const TRANSACTION_LIMIT_MS = 5_000;
const POLL_MS = 250;

interface SessionRow {
  readonly database: string;
  readonly role: string;
  readonly instance: string;
  readonly pid: number;
  /** Number of its open transaction, null when it has none. */
  readonly transaction: string | null;
}

/**
 * The operator may not see what others' sessions do, but every user sees who holds which lock: an open transaction
 * holds its own number. One that is seen for 5 s without a change is stuck. Takes one look when nothing is open.
 */
const SESSIONS = `
  SELECT a.datname AS database, a.usename AS role, a.application_name AS instance, a.pid,
    (SELECT l.virtualtransaction FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'virtualxid' LIMIT 1) AS transaction
  FROM pg_stat_activity a
  WHERE a.datname = ANY ($1) AND a.usename = ANY ($2)`;

/** Checks I13 until it holds, or what is wrong has lasted for the limit. Rejects when PostgreSQL cannot be asked. */
export async function checkSessions(target: AuditTarget, signal?: AbortSignal): Promise<InvariantResult> {
  const began = performance.now();
  const names = Object.values(target.databaseUrls).map((url) => new URL(url).pathname.slice(1));
  let stillOpen: ReadonlySet<string> | undefined;
  const check = async (): Promise<InvariantResult | undefined> => {
    const rows = await target.databases.query<SessionRow>('orders', SESSIONS, [names, databaseNames]);
    const open = rows.filter(({ transaction }) => transaction !== null);
    const before = stillOpen;
    stillOpen = new Set(open.map(keyOf).filter((key) => before === undefined || before.has(key)));
    const elapsedMs = performance.now() - began;
    const isOver = elapsedMs >= TRANSACTION_LIMIT_MS;
    const suspects = open.filter((row) => stillOpen?.has(keyOf(row)));
    const result = sessionsResult(
      sessionsOf(rows, target.databasePoolSize),
      isOver ? suspects.map((row) => ({ ...placeOf(row), openForMs: elapsedMs })) : [],
      target.instances.filter((name) => hasDatabase(name.replace(/-\d+$/, ''))),
    );
    return isOver || (suspects.length === 0 && result.verdict === 'pass') ? result : undefined;
  };
  return poll(check, { everyMs: POLL_MS, signal });
}

function hasDatabase(service: string): boolean {
  return (databaseNames as readonly string[]).includes(service);
}

function keyOf({ pid, transaction }: SessionRow): string {
  return `${pid} ${transaction}`;
}

function placeOf({ database, instance, role }: SessionRow): Omit<OpenTransaction, 'openForMs'> {
  return { database, instance: instance || role };
}

function sessionsOf(rows: readonly SessionRow[], configured: number | undefined): SessionFact[] {
  const groups = Map.groupBy(rows, ({ database, role, instance }) => `${database} ${instance || role}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const poolSize = hasDatabase(first.role) ? (configured ?? poolSizeOf(first.role)) : 0;
    return [{ ...placeOf(first), connections: group.length, poolSize }];
  });
}
