import { CliError } from '../errors.ts';
import { quoted } from '../providers/postgres/quoted.ts';
import type { DatabaseName } from '../topology/databases.ts';
import type { Administration } from './administration.ts';
import { endSessions, type SessionStart, STARTED_AT } from './sessions.ts';

/** Where `default_transaction_read_only` is on: for a role, in a database, or both. */
export interface ReadOnlySetting {
  /** Null: every role. */
  readonly role: string | null;
  /** Null: every database. */
  readonly database: string | null;
}

export interface WritableResult {
  readonly database: DatabaseName;
  /** Those that were reset; none where the database took writes before. */
  readonly settings: readonly ReadOnlySetting[];
  /** Sessions that had it from their start. */
  readonly sessions: number;
  readonly dryRun: boolean;
}

const SETTINGS = `
  SELECT r.rolname AS role, d.datname AS database
    FROM pg_db_role_setting s LEFT JOIN pg_roles r ON r.oid = s.setrole LEFT JOIN pg_database d ON d.oid = s.setdatabase
   WHERE (s.setdatabase = 0 OR d.datname = $1) AND EXISTS (
     SELECT FROM unnest(s.setconfig) AS one
      WHERE CASE WHEN one LIKE 'default\\_transaction\\_read\\_only=%' THEN split_part(one, '=', 2)::boolean ELSE false END)
   ORDER BY 1, 2`;

/** $2: roles; null stands for each of them. */
const AFFECTED = `SELECT pid, datname AS database, ${STARTED_AT} AS "startedAt" FROM pg_stat_activity
  WHERE datname = $1 AND backend_type = 'client backend' AND pid <> pg_backend_pid()
    AND ($2::text[] IS NULL OR usename = ANY ($2::text[]))`;

/** Resets what makes transactions of a database read-only, and ends the sessions that began with it. */
export async function makeWritable(
  database: DatabaseName,
  dryRun: boolean,
  { query }: Pick<Administration, 'query'>,
): Promise<WritableResult> {
  const settings = await query<ReadOnlySetting>(database, SETTINGS, [database]);
  if (settings.length === 0) return { database, settings, sessions: 0, dryRun };
  const roles = settings.some(({ role }) => role === null) ? null : settings.map(({ role }) => role);
  const affected = () => query<SessionStart>(database, AFFECTED, [database, roles]);
  if (dryRun) return { database, settings, sessions: (await affected()).length, dryRun };
  // The setting may count for this connection as well.
  await query(database, `BEGIN READ WRITE; ${settings.map(resetOf).join('; ')}; COMMIT`);
  const sessions = await affected();
  await endSessions(sessions, { query });
  const left = await query(database, SETTINGS, [database]);
  if (left.length === 0) return { database, settings, sessions: sessions.length, dryRun };
  throw new CliError({
    code: 'operation_ineffective',
    what: `${database} is still read-only`,
    why: 'the setting was made again meanwhile',
    next: 'repeat the command',
  });
}

function resetOf({ role, database }: ReadOnlySetting): string {
  const who = role === null ? 'ALL' : quoted(role);
  const where = database === null ? '' : ` IN DATABASE ${quoted(database)}`;
  return `ALTER ROLE ${who}${where} RESET default_transaction_read_only`;
}
