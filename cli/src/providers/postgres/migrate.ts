import { join } from 'node:path';
import type { Client } from 'pg';
import { type Login, withClient } from './client.ts';
import { type MigrationFile, readMigrations } from './migration-files.ts';

/** Migrations are recorded in a separate schema, which the service's role cannot see. */
const SCHEMA = 'migrations';
const TABLE = 'applied';
/** What each applied file held: one that is changed afterwards is never applied again, and no message would say so. */
const DIGESTS = 'digests';

/** How long a second starter waits for the first one's migrations. */
const LOCK_TIMEOUT_MS = 60_000;
const LOCK_NOT_AVAILABLE = '55P03';

/** A migration that could not be applied; what it began is rolled back. */
class MigrationError extends Error {
  override readonly name = 'MigrationError';
  readonly code = 'migration_failed';
}

/**
 * Applies what `<folder>/NNNN_what.sql` has and the database has not, each file in a separate transaction, as the role
 * in `login` (the owner). Safe when several start concurrently: they take turns. Returns the names applied. Throws
 * MigrationError for one that cannot be applied, and for one that was changed after it was applied.
 */
export async function migrateDatabase(login: Login, folder: string): Promise<string[]> {
  const files = await readMigrations(folder);
  if (files.length === 0) return [];
  return withClient({ ...login, lockTimeoutMs: LOCK_TIMEOUT_MS }, async (client) => {
    const applied = await appliedNames(client);
    const digests = await recordedDigests(client);
    for (const { name, path, digest } of files) {
      if (applied.has(name) && (digests.get(name) ?? digest) !== digest) throw changedAfterwards(path, login.database);
    }
    const done = files.every(({ name }) => applied.has(name)) ? [] : await applyAll(client, login.database, folder);
    const unrecorded = files.filter(({ name }) => !digests.has(name));
    if (unrecorded.length > 0) await recordDigests(client, unrecorded);
    return done;
  });
}

async function recordedDigests(client: Client): Promise<ReadonlyMap<string, string>> {
  if (!(await exists(client, DIGESTS))) return new Map();
  const { rows } = await client.query<{ name: string; digest: string }>(
    `SELECT name, digest FROM ${SCHEMA}.${DIGESTS}`,
  );
  return new Map(rows.map(({ name, digest }) => [name, digest]));
}

/** A database of an earlier build has none: its files are taken to be what was applied. */
async function recordDigests(client: Client, files: readonly MigrationFile[]): Promise<void> {
  // Names and digests hold no quotes; sent together they cost one round trip, and two starters take turns.
  const values = files.map(({ name, digest }) => `('${name}', '${digest}')`);
  await client.query(`
    BEGIN;
    SELECT pg_advisory_xact_lock(hashtext('${SCHEMA}.${DIGESTS}'));
    CREATE TABLE IF NOT EXISTS ${SCHEMA}.${DIGESTS} (name text PRIMARY KEY, digest text NOT NULL);
    INSERT INTO ${SCHEMA}.${DIGESTS} (name, digest) VALUES ${values.join(', ')} ON CONFLICT DO NOTHING;
    COMMIT`);
}

async function exists(client: Client, table: string): Promise<boolean> {
  const { rows } = await client.query<{ oid: string | null }>(`SELECT to_regclass('${SCHEMA}.${table}')::text AS oid`);
  return rows[0]?.oid != null;
}

function changedAfterwards(path: string, database: string): MigrationError {
  return new MigrationError(
    `${path}: it was changed after it was applied to the database ${database}, where it will not be applied again. Restore it and write the change as a new file, or begin without data ("shopctl down -v")`,
  );
}

async function appliedNames(client: Client): Promise<Set<string>> {
  if (!(await exists(client, TABLE))) return new Set();
  const { rows } = await client.query<{ name: string }>(`SELECT name FROM ${SCHEMA}.${TABLE}`);
  return new Set(rows.map(({ name }) => name));
}

async function applyAll(client: Client, database: string, folder: string): Promise<string[]> {
  // The library costs more time than a start without migrations: it is loaded only when there is work for it.
  const { runner } = await import('node-pg-migrate');
  let current: string | undefined;
  const quiet = () => undefined;
  // The library names the file it is at in its log only.
  const follow = (message: string) => {
    current = /### MIGRATION (\S+) /.exec(message)?.[1] ?? current;
  };
  try {
    const done = await runner({
      dbClient: client,
      dir: folder,
      direction: 'up',
      migrationsSchema: SCHEMA,
      createMigrationsSchema: true,
      migrationsTable: TABLE,
      singleTransaction: false,
      advisoryLockMode: 'wait',
      logger: { info: follow, warn: quiet, error: quiet },
    });
    return done.map(({ name }) => name);
  } catch (cause) {
    throw new MigrationError(explain(cause as Error & { code?: string }, database, folder, current), { cause });
  }
}

function explain(
  cause: Error & { code?: string },
  database: string,
  folder: string,
  current: string | undefined,
): string {
  if (cause.code === LOCK_NOT_AVAILABLE) {
    return `database ${database}: waited ${LOCK_TIMEOUT_MS / 1000} s for another migration to end. Is another "shopctl up" stuck?`;
  }
  const where = current === undefined ? folder : join(folder, `${current}.sql`);
  const sqlState = cause.code === undefined ? '' : ` (SQLSTATE ${cause.code})`;
  return `${where}: ${cause.message}${sqlState}. Nothing of this file was applied; correct it and start again`;
}
