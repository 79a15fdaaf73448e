import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Client } from 'pg';
import { type DatabaseName, databaseNames, OPERATOR_ROLE, READER_ROLE } from '../../topology/databases.ts';
import type { Address } from '../component.ts';
import { cautiousGate, type SchemaGate } from '../schema/schema-gate.ts';
import type { Secrets } from '../secrets.ts';
import { databaseAccount } from '../urls.ts';
import { type Login, withClient } from './client.ts';
import { contractsInEffect, migrateDatabase } from './migrate.ts';
import { readMigrations } from './migration-files.ts';
import { scramVerifier } from './scram.ts';

/** Raise it when this file makes something new, so that existing clusters get it. */
const SET_UP_VERSION = 2;

/** One set-up at a time per cluster. */
const SET_UP_LOCK = 7_356_001;
const LOCK_TIMEOUT_MS = 120_000;

/**
 * What the operator may do beyond reading: `shopctl outbox redrive` marks published rows as unpublished again.
 * Granted after the migrations, because it names a column.
 */
const operatorGrants: readonly { database: DatabaseName; table: string; privilege: string }[] = [
  { database: 'orders', table: 'outbox', privilege: 'UPDATE (published_at)' },
];

export interface SetUpOptions {
  readonly address: Address;
  /** May create roles and databases. */
  readonly superuser: { readonly user: string; readonly password: string; readonly database: string };
  readonly secrets: Secrets;
  /** Holds one folder of SQL files per database. */
  readonly migrationsDir: string;
  /** Decides about contract migrations; absent where nothing is known of what runs. */
  readonly schemaGate?: SchemaGate;
}

/**
 * Roles, five databases, privileges and migrations; idempotent. When everything is there already it costs one
 * connection and one query, and the same for each database. Resolves with the migrations applied, `orders/0001_what`.
 * Throws MigrationError for a bad one, and what the gate throws.
 */
export async function setUpCluster(options: SetUpOptions): Promise<readonly string[]> {
  const fingerprint = await fingerprintOf(options);
  const login = { ...options.address, ...options.superuser, lockTimeoutMs: LOCK_TIMEOUT_MS };
  return withClient(login, async (client) => {
    if (await isSetUp(client, fingerprint)) {
      await Promise.all(databaseNames.map((name) => passUnchanged(name, options)));
      return [];
    }
    await client.query('SELECT pg_advisory_lock($1)', [SET_UP_LOCK]);
    await createRoles(client, options.secrets);
    await createDatabases(client, login);
    const applied = await Promise.all(databaseNames.map((name) => prepareDatabase(name, options)));
    await client.query(`COMMENT ON ROLE ${OPERATOR_ROLE} IS '${fingerprint}'`);
    return applied.flat();
  });
}

/** While the cluster runs: the same, resolving with what it changed, for people. */
export async function refreshCluster(options: SetUpOptions): Promise<readonly string[]> {
  const { schemaGate: gate = cautiousGate } = options;
  const schemaGate: SchemaGate = { ...gate, pass: (change) => gate.pass({ ...change, isAsked: true }) };
  return (await setUpCluster({ ...options, schemaGate })).map((name) => `migration ${name}`);
}

/** The services in the clone may be older than the schema although no migration differs. */
async function passUnchanged(service: DatabaseName, options: SetUpOptions): Promise<void> {
  const { schemaGate = cautiousGate } = options;
  const inEffect = await contractsInEffect(ownerLogin(service, options), service);
  await schemaGate.pass({ service, isNew: false, pending: [], inEffect });
  schemaGate.passed({ service, inEffect, pointsOfNoReturn: [] });
}

function ownerLogin(database: DatabaseName, { address, secrets }: SetUpOptions): Login {
  return { ...address, ...databaseAccount('owner', database, secrets), database };
}

/** Changes when there is anything to do: other passwords, another migration, another version of this file. */
async function fingerprintOf({ secrets, migrationsDir }: SetUpOptions): Promise<string> {
  const migrations = await Promise.all(databaseNames.map((name) => readMigrations(join(migrationsDir, name))));
  const digests = migrations.map((files) => files.map(({ name, digest }) => [name, digest]));
  const content = JSON.stringify([SET_UP_VERSION, secrets.postgres, operatorGrants, digests]);
  return `shopctl ${createHash('sha256').update(content).digest('hex')}`;
}

async function isSetUp(client: Client, fingerprint: string): Promise<boolean> {
  const { rows } = await client.query<{ done: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1 AND shobj_description(oid, 'pg_authid') = $2)
        AND (SELECT count(*) FROM pg_database WHERE datname = ANY($3)) = $4 AS done`,
    [OPERATOR_ROLE, fingerprint, databaseNames, databaseNames.length],
  );
  return rows[0]?.done === true;
}

async function createRoles(client: Client, secrets: Secrets): Promise<void> {
  const accounts = [
    databaseAccount('operator', 'orders', secrets),
    databaseAccount('reader', 'orders', secrets),
    ...databaseNames.map((name) => databaseAccount('owner', name, secrets)),
    ...databaseNames.map((name) => databaseAccount('service', name, secrets)),
  ];
  const { rows } = await client.query<{ rolname: string }>('SELECT rolname FROM pg_roles');
  const existing = new Set(rows.map(({ rolname }) => rolname));
  const statements = accounts.map(async ({ user, password }) => {
    const verb = existing.has(user) ? 'ALTER' : 'CREATE';
    return `${verb} ROLE ${user} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD '${await scramVerifier(password)}'`;
  });
  await client.query((await Promise.all(statements)).join(';\n'));
}

async function createDatabases(client: Client, login: Login): Promise<void> {
  const { rows } = await client.query<{ datname: string }>('SELECT datname FROM pg_database');
  const missing = databaseNames.filter((name) => !rows.some(({ datname }) => datname === name));
  // Each over a separate connection: one creation is mostly copying, and they do not wait for each other.
  await Promise.all(
    missing.map((name) => withClient(login, (own) => own.query(`CREATE DATABASE ${name} OWNER ${name}_owner`))),
  );
  // CONNECT on a database is granted to PUBLIC until it is revoked; the two databases of the cluster itself included.
  await client.query('REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC');
}

async function prepareDatabase(name: DatabaseName, options: SetUpOptions): Promise<readonly string[]> {
  const { address, superuser, migrationsDir, schemaGate = cautiousGate } = options;
  const asSuperuser = { ...address, ...superuser, database: name };
  await withClient(asSuperuser, (client) => client.query(privileges(name)));
  const folder = join(migrationsDir, name);
  const { applied, ...state } = await migrateDatabase(ownerLogin(name, options), folder, schemaGate);
  schemaGate.passed({ service: name, ...state });
  const grants = operatorGrants.filter(({ database }) => database === name);
  await withClient(asSuperuser, async (client) => {
    await client.query(readerPrivileges(name));
    await grantToOperator(client, grants);
  });
  return applied.map((migration) => `${name}/${migration}`);
}

/**
 * Said by a superuser inside the database: the service gets rows, the operator looks at them, the owner alone shapes
 * tables, and no other role may connect.
 */
export function privileges(name: DatabaseName): string {
  const owner = `${name}_owner`;
  const byOwner = `ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} IN SCHEMA public`;
  return `
    REVOKE ALL ON DATABASE ${name} FROM PUBLIC;
    GRANT CONNECT ON DATABASE ${name} TO ${name}, ${OPERATOR_ROLE};
    ALTER SCHEMA public OWNER TO ${owner};
    REVOKE ALL ON SCHEMA public FROM PUBLIC;
    GRANT USAGE ON SCHEMA public TO ${name}, ${OPERATOR_ROLE};
    ${byOwner} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${name};
    ${byOwner} GRANT SELECT ON TABLES TO ${OPERATOR_ROLE};
    ${byOwner} GRANT USAGE ON SEQUENCES TO ${name}, ${OPERATOR_ROLE};`;
}

/** Of the tables that the migrations have made. Compose and Kubernetes have no such role. */
function readerPrivileges(name: DatabaseName): string {
  return `
    GRANT CONNECT ON DATABASE ${name} TO ${READER_ROLE};
    GRANT USAGE ON SCHEMA public TO ${READER_ROLE};
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${READER_ROLE};`;
}

async function grantToOperator(client: Client, grants: typeof operatorGrants): Promise<void> {
  for (const { table, privilege } of grants) {
    const { rows } = await client.query<{ found: boolean }>(`SELECT to_regclass($1) IS NOT NULL AS found`, [
      `public.${table}`,
    ]);
    if (rows[0]?.found) await client.query(`GRANT ${privilege} ON public.${table} TO ${OPERATOR_ROLE}`);
  }
}
