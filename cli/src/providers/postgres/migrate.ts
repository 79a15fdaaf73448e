import { join } from 'node:path';
import type { Client } from 'pg';
import { type Login, withClient } from './client.ts';
import { readMigrations } from './migration-files.ts';

/** Migrations are recorded in a separate schema, which the service's role cannot see. */
const SCHEMA = 'migrations';
const TABLE = 'applied';

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
 * in `login` (the owner). Safe when several start concurrently: they take turns. Returns the names applied.
 */
export async function migrateDatabase(login: Login, folder: string): Promise<string[]> {
  const files = await readMigrations(folder);
  if (files.length === 0) return [];
  return withClient({ ...login, lockTimeoutMs: LOCK_TIMEOUT_MS }, async (client) => {
    const applied = await appliedNames(client);
    if (files.every(({ name }) => applied.has(name))) return [];
    return applyAll(client, login.database, folder);
  });
}

async function appliedNames(client: Client): Promise<Set<string>> {
  const { rows: found } = await client.query<{ oid: string | null }>(
    `SELECT to_regclass('${SCHEMA}.${TABLE}')::text AS oid`,
  );
  if (found[0]?.oid == null) return new Set();
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
