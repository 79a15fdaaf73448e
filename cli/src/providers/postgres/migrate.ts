import { basename, join } from 'node:path';
import type { Client } from 'pg';
import type { ContractMigration } from '../schema/contract-migrations.ts';
import type { PointOfNoReturn, SchemaGate } from '../schema/schema-gate.ts';
import { type Login, withClient } from './client.ts';
import { type MigrationFile, readMigrations } from './migration-files.ts';

/** Migrations are recorded in a separate schema, which the service's role cannot see. */
const SCHEMA = 'migrations';
const TABLE = 'applied';
/**
 * What each applied file held: one that is changed afterwards is never applied again, and no message would say so. What a
 * contract migration requires is kept with it: an older tree has no such file.
 */
const DIGESTS = 'digests';

/** How long a second starter waits for the first one's migrations. */
const LOCK_TIMEOUT_MS = 60_000;
const LOCK_NOT_AVAILABLE = '55P03';

/** A migration that could not be applied; what it began is rolled back. */
class MigrationError extends Error {
  override readonly name = 'MigrationError';
  readonly code = 'migration_failed';
}

/** What was applied, and which of it was allowed only because the way back was given up. */
export interface Migrated {
  readonly applied: readonly string[];
  /** `0007_total_removed`, and the releases that cannot come back: `orders 0.3.0 (dist/releases/orders/0.3.0)`. */
  readonly pointsOfNoReturn: readonly PointOfNoReturn[];
  /** Contract migrations that the database has now. */
  readonly inEffect: readonly ContractMigration[];
}

/**
 * Applies what `<folder>/NNNN_what.sql` has and the database has not, each file in a separate transaction, as the role
 * in `login` (the owner). Safe when several start concurrently: they take turns. Throws MigrationError for one that cannot
 * be applied, and for one that was changed after it was applied; and what the gate throws, before anything is applied.
 */
export async function migrateDatabase(login: Login, folder: string, gate: SchemaGate): Promise<Migrated> {
  const files = await readMigrations(folder);
  if (files.length === 0) return { applied: [], pointsOfNoReturn: [], inEffect: [] };
  const service = basename(folder);
  return withClient({ ...login, lockTimeoutMs: LOCK_TIMEOUT_MS }, async (client) => {
    const applied = await appliedNames(client);
    const recorded = await recordedFiles(client);
    for (const { name, path, digest } of files) {
      if (applied.has(name) && (recorded.get(name)?.digest ?? digest) !== digest) {
        throw changedAfterwards(path, login.database);
      }
    }
    const pending = files
      .filter(isContract)
      .filter(({ name }) => !applied.has(name))
      .map(({ name, requires }) => ({ name, requires }));
    const before = contractsOf(recorded, service);
    const pointsOfNoReturn = await gate.pass({ service, isNew: applied.size === 0, pending, inEffect: before });
    const done = files.every(({ name }) => applied.has(name)) ? [] : await applyAll(client, login.database, folder);
    const unrecorded = files.filter(({ name }) => !recorded.has(name));
    if (unrecorded.length > 0) await recordFiles(client, unrecorded);
    // Another starter may have applied one meanwhile.
    return {
      applied: done,
      pointsOfNoReturn: pointsOfNoReturn.filter(({ name }) => done.includes(name)),
      inEffect: [...before, ...pending],
    };
  });
}

/** Contract migrations that the database of a service has, as the role in `login`; also those whose files are not here. */
export function contractsInEffect(login: Login, service: string): Promise<readonly ContractMigration[]> {
  return withClient(login, async (client) => contractsOf(await recordedFiles(client), service));
}

function contractsOf(recorded: ReadonlyMap<string, RecordedFile>, service: string): readonly ContractMigration[] {
  return [...recorded].flatMap(([name, { atLeast }]) =>
    atLeast === null ? [] : [{ name, requires: { service, atLeast } }],
  );
}

function isContract(file: MigrationFile): file is MigrationFile & ContractMigration {
  return file.requires !== undefined;
}

interface RecordedFile {
  readonly digest: string;
  readonly atLeast: string | null;
}

async function recordedFiles(client: Client): Promise<ReadonlyMap<string, RecordedFile>> {
  if (!(await exists(client, DIGESTS))) return new Map();
  // Without a contract migration the table has no such column.
  const { rows } = await client.query<RecordedFile & { name: string }>(
    `SELECT name, digest, to_jsonb(file) ->> 'at_least' AS "atLeast" FROM ${SCHEMA}.${DIGESTS} AS file`,
  );
  return new Map(rows.map(({ name, ...file }) => [name, file]));
}

/** A database of an earlier build has none: its files are taken to be what was applied. */
async function recordFiles(client: Client, files: readonly MigrationFile[]): Promise<void> {
  // Names, digests and versions hold no quotes; sent together they cost one round trip, and two starters take turns.
  const values = files.map(({ name, digest }) => `('${name}', '${digest}')`);
  const contracts = files.filter(isContract);
  const requirements = contracts.map(
    ({ name, requires }) => `UPDATE ${SCHEMA}.${DIGESTS} SET at_least = '${requires.atLeast}' WHERE name = '${name}';`,
  );
  await client.query(`
    BEGIN;
    SELECT pg_advisory_xact_lock(hashtext('${SCHEMA}.${DIGESTS}'));
    CREATE TABLE IF NOT EXISTS ${SCHEMA}.${DIGESTS} (name text PRIMARY KEY, digest text NOT NULL);
    INSERT INTO ${SCHEMA}.${DIGESTS} (name, digest) VALUES ${values.join(', ')} ON CONFLICT DO NOTHING;
    ${contracts.length === 0 ? '' : `ALTER TABLE ${SCHEMA}.${DIGESTS} ADD COLUMN IF NOT EXISTS at_least text;`}
    ${requirements.join('\n')}
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
