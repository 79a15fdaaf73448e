import { CliError } from '../errors.ts';
import { pollFor } from '../shared/wait-until.ts';
import type { DatabaseName } from '../topology/databases.ts';
import type { Administration } from './administration.ts';
import { withoutValues } from './statement-shape.ts';

/** A table-level lock that a session holds. */
interface HeldLock {
  /** PostgreSQL's name of it, `AccessExclusiveLock`. */
  readonly mode: string;
  readonly table: string;
}

/** One connection of a client, as PostgreSQL sees it. */
export interface DatabaseSession {
  readonly pid: number;
  readonly database: DatabaseName;
  readonly role: string;
  readonly application: string;
  /** `active`, `idle`, `idle in transaction`, ... */
  readonly state: string;
  /** ISO time with microseconds: with the pid it names this session and no later one. */
  readonly startedAt: string;
  /** Age of its transaction; null outside of one. */
  readonly transactionMs: number | null;
  /** `Lock relation`, `Client ClientRead`, ...; null while it works. */
  readonly waitsFor: string | null;
  /** Sessions that hold, or wait for before it, what it waits for. */
  readonly blockedBy: readonly number[];
  readonly locks: readonly HeldLock[];
  /** What it runs, or ran last, without values. */
  readonly statement: string;
}

/** Sessions of some databases, and how full the server is. */
export interface SessionReport {
  /** Of clients, in all databases. */
  readonly connections: number;
  readonly maximum: number;
  /** Those of the maximum that only a superuser is given. */
  readonly reserved: number;
  readonly sessions: readonly DatabaseSession[];
}

/** What names a session in the server. */
export type SessionStart = Pick<DatabaseSession, 'pid' | 'database' | 'startedAt'>;

/** Which session is meant: a pid alone may be another session's by now. */
export type SessionName = Pick<DatabaseSession, 'pid' | 'database' | 'startedAt' | 'role' | 'application'>;

/** `orders (orders-1)` */
export function ownerOf({ role, application }: Pick<DatabaseSession, 'role' | 'application'>): string {
  return `${role}${application === '' ? '' : ` (${application})`}`;
}

/** `10 of orders (orders-1), 1 of shop_operator (shopctl)` */
export function countsOf(sessions: readonly Pick<DatabaseSession, 'role' | 'application'>[]): string {
  return [...Map.groupBy(sessions, ownerOf)].map(([owner, own]) => `${own.length} of ${owner}`).join(', ');
}

/** Of a row of pg_stat_activity: an ISO time with all its digits. */
export const STARTED_AT = `to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Blockers are asked for where a session waits for a lock: asking stops the lock manager for a moment. */
const SESSIONS = `
  WITH held AS (
    SELECT l.pid, json_agg(DISTINCT jsonb_build_object('mode', l.mode, 'table', c.relname)) AS locks
      FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE l.granted AND l.locktype = 'relation' AND c.relkind IN ('r', 'p') AND n.nspname !~ '^pg_'
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
     GROUP BY l.pid)
  SELECT a.pid, a.datname AS database, coalesce(a.usename, '') AS role, a.application_name AS application,
         coalesce(a.state, '') AS state, ${STARTED_AT} AS "startedAt",
         (extract(epoch FROM clock_timestamp() - a.xact_start) * 1000)::float8 AS "transactionMs",
         a.wait_event_type || ' ' || a.wait_event AS "waitsFor",
         CASE WHEN a.wait_event_type = 'Lock' THEN pg_blocking_pids(a.pid) ELSE '{}' END AS "blockedBy",
         coalesce(h.locks, '[]') AS locks, a.query AS statement
    FROM pg_stat_activity a LEFT JOIN held h ON h.pid = a.pid
   WHERE a.datname = current_database() AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()
   ORDER BY a.xact_start NULLS LAST, a.pid`;

const SERVER = `
  SELECT (SELECT count(*)::int FROM pg_stat_activity
           WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS connections,
         current_setting('max_connections')::int AS maximum,
         current_setting('superuser_reserved_connections')::int
           + coalesce(current_setting('reserved_connections', true)::int, 0) AS reserved`;

type Query = Administration['query'];

const GONE_LIMIT_MS = 5_000;

/** One database after the other: a server that is full has few connections left for superusers. */
export async function readSessions(
  databases: readonly DatabaseName[],
  { query }: Pick<Administration, 'query'>,
): Promise<SessionReport> {
  const sessions: DatabaseSession[] = [];
  for (const database of databases) {
    const rows = await query<DatabaseSession>(database, SESSIONS);
    sessions.push(
      ...rows.map((row) => ({
        ...row,
        transactionMs: row.transactionMs === null ? null : Math.round(row.transactionMs),
        statement: withoutValues(row.statement),
      })),
    );
  }
  const [server] = await query<Omit<SessionReport, 'sessions'>>(databases[0] as DatabaseName, SERVER);
  return { ...(server as Omit<SessionReport, 'sessions'>), sessions };
}

/**
 * Ends these very sessions; a dry run only looks whether they are still there. Throws CliError (1) before the first where one of them has ended, or where its pid belongs to
 * a later session, and after the last where one does not end.
 */
export async function terminateSessions(
  names: readonly SessionName[],
  dryRun: boolean,
  { query }: Pick<Administration, 'query'>,
): Promise<void> {
  for (const [database, own] of byDatabase(names)) await assertSame(database, own, query);
  if (!dryRun) await endSessions(names, { query });
}

/** Ends those of these sessions that are still there. Throws CliError (1) where one does not end. */
export async function endSessions(
  names: readonly SessionStart[],
  { query }: Pick<Administration, 'query'>,
): Promise<void> {
  for (const [database, own] of byDatabase(names)) {
    // By its start as well: a pid may become another session's at any time.
    await query(
      database,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity JOIN unnest($1::int[], $2::text[]) AS meant (pid, began)
        USING (pid) WHERE ${STARTED_AT} = began`,
      [own.map(({ pid }) => pid), own.map(({ startedAt }) => startedAt)],
    );
  }
  for (const [database, own] of byDatabase(names)) await assertGone(database, own, query);
}

function byDatabase<Name extends SessionStart>(names: readonly Name[]): ReadonlyMap<DatabaseName, readonly Name[]> {
  return Map.groupBy(names, ({ database }) => database);
}

async function assertSame(database: DatabaseName, names: readonly SessionStart[], query: Query): Promise<void> {
  const starts = await startsOf(database, names, query);
  for (const { pid, startedAt } of names) {
    const now = starts.get(pid);
    if (now === startedAt) continue;
    throw new CliError({
      code: now === undefined ? 'session_not_found' : 'session_changed',
      what: now === undefined ? `${database} has no session ${pid} any more` : `${pid} is another session now`,
      why: `the one that was meant began at ${startedAt}${now === undefined ? '' : `, this one at ${now}`}; nothing was ended`,
      next: `look again with "shopctl ops db sessions ${database}"`,
    });
  }
}

async function assertGone(database: DatabaseName, names: readonly SessionStart[], query: Query): Promise<void> {
  let left = names;
  const areGone = await pollFor(
    async () => {
      const starts = await startsOf(database, left, query);
      left = left.filter(({ pid, startedAt }) => starts.get(pid) === startedAt);
      return left.length === 0 ? true : undefined;
    },
    { everyMs: 50, limitMs: GONE_LIMIT_MS },
  );
  if (areGone) return;
  throw new CliError({
    code: 'operation_ineffective',
    what: `${left.length} of ${names.length} sessions of ${database} did not end`,
    why: `PostgreSQL still has ${left.map(({ pid }) => pid).join(', ')}, ${GONE_LIMIT_MS / 1000} s after it was asked to end them`,
    next: `see "shopctl ops db sessions ${database}" and "shopctl logs postgres"`,
  });
}

/** When the sessions began that have these pids now. */
async function startsOf(
  database: DatabaseName,
  names: readonly SessionStart[],
  query: Query,
): Promise<ReadonlyMap<number, string>> {
  const rows = await query<{ pid: number; startedAt: string }>(
    database,
    `SELECT pid, ${STARTED_AT} AS "startedAt" FROM pg_stat_activity
      WHERE pid = ANY ($1::int[]) AND backend_type = 'client backend' AND datname = current_database()`,
    [names.map(({ pid }) => pid)],
  );
  return new Map(rows.map(({ pid, startedAt }) => [pid, startedAt]));
}
