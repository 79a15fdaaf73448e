import { CliError } from '../errors.ts';
import { waitUntil } from '../shared/wait-until.ts';
import { type DatabaseName, databaseNames } from '../topology/databases.ts';
import type { PlatformAccess } from './platform-access.ts';

/** A fault that consists of open connections, as an undo record has it. */
export interface SessionRecord {
  readonly id: string;
  readonly database: DatabaseName;
  /** `application_name` of the connections. */
  readonly application: string;
}

const GONE_LIMIT_MS = 3_000;

/** The database of an edge: `orders-db` is `orders`. */
export function databaseOf(target: string): DatabaseName {
  const found = databaseNames.find((name) => `${name}-db` === target);
  if (found) return found;
  throw new CliError({
    code: 'unknown_fault_target',
    what: `unknown database "${target}"`,
    next: 'name its edge, for instance orders-db',
  });
}

/** Ends the connections of a fault, also those of a killed supervisor that the server may still have. */
export async function endSessions(
  { id, database, application }: SessionRecord,
  platform: PlatformAccess,
): Promise<void> {
  await platform.sessions.close(id);
  if (!hasServer(platform)) return;
  await platform.query(database, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
    application,
  ]);
}

/** Evidence that none is left. */
export async function verifyNoSessions(record: SessionRecord, platform: PlatformAccess): Promise<string> {
  if (!hasServer(platform)) return 'PostgreSQL has ended, and the connections with it';
  return waitUntil('the connections of the fault to end', GONE_LIMIT_MS, async () => {
    return (await countSessions(record, platform)) === 0 ? 'PostgreSQL has no connection of it any more' : undefined;
  });
}

/** Connections the server holds for a fault. */
export async function countSessions(
  { database, application }: Pick<SessionRecord, 'database' | 'application'>,
  platform: PlatformAccess,
): Promise<number> {
  const [row] = await platform.query<{ count: number }>(
    database,
    'SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = $1',
    [application],
  );
  return row?.count ?? 0;
}

/** The error of an undo that needs the server; it is tried again when PostgreSQL runs. */
export function waitsForStart(why = 'the setting is kept in its data'): CliError {
  return new CliError({
    code: 'fault_not_reverted',
    what: 'PostgreSQL is not running',
    why: `${why}; it is reverted as soon as PostgreSQL runs again`,
    next: 'run "shopctl up"',
  });
}

/** False when the platform's PostgreSQL does not run. */
export function hasServer(platform: PlatformAccess): boolean {
  return (
    platform.isLive && platform.state()?.instances.some(({ name, process }) => name === 'postgres' && process) === true
  );
}
