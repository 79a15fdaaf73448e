// Goal: the privileges of each role in the five databases, and that starting is safe to repeat, interrupt and do twice
// concurrently.
// Method: real servers in temporary folders, each started as the supervisor does it.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { segmentsOf } from '../../../test/support/shared-memory.ts';
import { type DatabaseName, type DatabaseRole, databaseNames } from '../topology/databases.ts';
import type { Launch } from './component.ts';
import { removeSegment } from './postgres/postmaster.ts';
import { purgeComponents, resolveComponent } from './resolve.ts';
import { createSchemaGate, type SchemaState } from './schema/schema-gate.ts';
import { aContext, type RunningLaunch, sharedCacheDir, startLaunch, type TestContext } from './testing.ts';
import { databaseAccount, databaseUrl } from './urls.ts';

const TABLES = {
  orders:
    'CREATE TABLE outbox (id int PRIMARY KEY, seq bigint GENERATED ALWAYS AS IDENTITY, note text, published_at timestamptz)',
  catalog: 'CREATE TABLE products (id serial PRIMARY KEY, name text)',
};
const START_LIMIT_MS = 60_000;

let migrationsDir: string;
let context: TestContext;
let launch: Launch;
let server: RunningLaunch;

beforeAll(async () => {
  migrationsDir = await mkdtemp(join(tmpdir(), 'shopctl-migrations-'));
  for (const [name, sql] of Object.entries(TABLES)) await addMigration(name, '0001_tables.sql', sql);
  context = await aContext({ cacheDir: sharedCacheDir(), migrationsDir });
  launch = await resolveComponent('postgres', context);
  server = await startLaunch(launch);
  await Promise.all([launch.setUp(), launch.setUp()]);
}, START_LIMIT_MS);

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await context?.[Symbol.asyncDispose]();
  await rm(migrationsDir, { recursive: true, force: true });
});

describe('a service', () => {
  const others = databaseNames.flatMap((name) =>
    databaseNames.filter((other) => other !== name).map((other) => [name, other] as const),
  );

  it.each(others)('%s cannot connect to %s', async (name, other) => {
    const { user, password } = databaseAccount('service', name, context.secrets);
    await expect(connectTo({ user, password, database: other })).rejects.toThrow(/permission denied for database/);
  });

  it.each(['postgres', 'template1'])('cannot connect to %s', async (database) => {
    const { user, password } = databaseAccount('service', 'orders', context.secrets);
    await expect(connectTo({ user, password, database })).rejects.toThrow(/permission denied for database/);
  });

  it('reads and writes the rows of its tables, sequences included', async () => {
    await query('service', 'catalog', `INSERT INTO products (name) VALUES ('kettle')`);
    await query('service', 'catalog', `UPDATE products SET name = 'mug'`);
    expect(await query('service', 'catalog', 'SELECT name FROM products')).toEqual([{ name: 'mug' }]);
    await query('service', 'catalog', 'DELETE FROM products');
  });

  it.each(['CREATE TABLE mine (id int)', 'DROP TABLE outbox', 'TRUNCATE outbox', 'SELECT * FROM migrations.applied'])(
    'cannot: %s',
    async (statement) => {
      await expect(query('service', 'orders', statement)).rejects.toThrow(/permission denied|must be owner/);
    },
  );
});

describe('the operator', () => {
  it.each(databaseNames)('connects to %s', async (name) => {
    expect(await query('operator', name, 'SELECT current_database() AS name')).toEqual([{ name }]);
  });

  it('reads rows and marks outbox rows as unpublished, and changes nothing else', async () => {
    await query('service', 'orders', `INSERT INTO outbox (id, note, published_at) VALUES (1, 'kept', now())`);
    await query('operator', 'orders', 'UPDATE outbox SET published_at = NULL WHERE id = 1');
    expect(await query('operator', 'orders', 'SELECT note, published_at FROM outbox')).toEqual([
      { note: 'kept', published_at: null },
    ]);
    await expect(query('operator', 'orders', `UPDATE outbox SET note = 'x'`)).rejects.toThrow(/permission denied/);
    await expect(query('operator', 'orders', 'DELETE FROM outbox')).rejects.toThrow(/permission denied/);
  });
});

describe('the reader', () => {
  it('reads rows, also of tables of later migrations, and changes nothing', async () => {
    await query('service', 'orders', `INSERT INTO outbox (id, note, published_at) VALUES (9, 'read', now())`);
    expect(await query('reader', 'orders', 'SELECT note FROM outbox WHERE id = 9')).toEqual([{ note: 'read' }]);
    for (const statement of [
      'UPDATE outbox SET published_at = NULL',
      'DELETE FROM outbox',
      'CREATE TABLE mine (id int)',
    ])
      await expect(query('reader', 'orders', statement)).rejects.toThrow(/permission denied/);
    await addMigration('orders', '0002_later.sql', 'CREATE TABLE later (id int)');
    await launch.setUp();
    expect(await query('reader', 'orders', 'SELECT * FROM later')).toEqual([]);
    await query('service', 'orders', 'DELETE FROM outbox WHERE id = 9');
  });
});

describe('starting again', () => {
  it('asks one question when everything is there', async () => {
    const before = await statementsOfSuperuser();
    await launch.setUp();
    expect((await statementsOfSuperuser()) - before).toBeLessThanOrEqual(2);
  });

  it('applies a migration that was added, once, when two start concurrently', async () => {
    await addMigration('catalog', '0002_price.sql', 'ALTER TABLE products ADD COLUMN price int DEFAULT 7');
    await Promise.all([launch.setUp(), launch.setUp(), launch.setUp()]);
    expect(await query('owner', 'catalog', 'SELECT name FROM migrations.applied ORDER BY id')).toEqual([
      { name: '0001_tables' },
      { name: '0002_price' },
    ]);
  });

  it('names the file and the SQL error of a bad migration, and applies nothing of it', async () => {
    const file = await addMigration('catalog', '0003_bad.sql', 'CREATE TABLE half (id int); SELECT * FROM nowhere');
    await expect(launch.setUp()).rejects.toThrow(/0003_bad.sql: relation "nowhere" does not exist .*42P01/);
    expect(await query('owner', 'catalog', `SELECT to_regclass('half') AS half`)).toEqual([{ half: null }]);
    await rm(file);
    await launch.setUp();
  });

  it('names what it applied while the server runs, and nothing the next time', async () => {
    await addMigration('catalog', '0004_weight.sql', 'ALTER TABLE products ADD COLUMN weight int');
    expect(await launch.refresh?.()).toEqual(['migration catalog/0004_weight']);
    expect(await launch.refresh?.()).toEqual([]);
  });

  it('refuses a migration that was changed after it was applied, by its name', async () => {
    const file = await addMigration('catalog', '0005_color.sql', 'ALTER TABLE products ADD COLUMN color text');
    await launch.setUp();
    await addMigration('catalog', '0005_color.sql', 'ALTER TABLE products ADD COLUMN colour text');
    await expect(launch.refresh?.()).rejects.toThrow(`${file}: it was changed after it was applied`);
    await addMigration('catalog', '0005_color.sql', 'ALTER TABLE products ADD COLUMN color text');
    expect(await launch.refresh?.()).toEqual([]);
  });

  it('applies a contract migration only while no older release may run, and keeps what it requires', async () => {
    await addMigration('stock', '0001_tables.sql', 'CREATE TABLE inventory (id int, note text)');
    await launch.setUp();
    const contract = '-- requires: stock >= 0.4.0\nALTER TABLE inventory DROP COLUMN note';
    const later = await addMigration('stock', '0002_note_removed.sql', contract);
    let oldest = '0.3.0';
    const passed: SchemaState[] = [];
    const schemaGate = createSchemaGate({
      releasesOf: async (service) => [
        { service, version: oldest, use: 'running', where: 'stock-1' },
        { service, version: oldest, use: 'built', where: 'services/stock' },
        { service, version: '0.2.0', use: 'kept', where: 'kept' },
      ],
      isPointOfNoReturn: () => true,
      passed: (state) => void passed.push(state),
      advice: { kept: 'keep', running: 'wait' },
    });
    const gated = await resolveComponent('postgres', { ...context, schemaGate });
    // Where nothing is known of what runs it is refused, too.
    for (const cautious of [gated, launch]) {
      await expect(cautious.refresh?.()).rejects.toMatchObject({
        code: 'migration_refused',
        what: 'the migration stock/0002_note_removed is refused',
      });
    }
    expect(await query('service', 'stock', 'SELECT note FROM inventory')).toEqual([]);
    expect(passed.filter(({ service }) => service === 'stock')).toEqual([]);

    oldest = '0.4.0';
    expect(await gated.refresh?.()).toEqual(['migration stock/0002_note_removed']);
    expect(passed.find(({ service }) => service === 'stock')).toEqual({
      service: 'stock',
      inEffect: [{ name: '0002_note_removed', requires: { service: 'stock', atLeast: '0.4.0' } }],
      pointsOfNoReturn: [{ name: '0002_note_removed', givenUp: ['stock 0.2.0 (kept)'] }],
    });

    oldest = '0.3.0';
    const refusal = {
      code: 'release_too_old',
      why: expect.stringContaining('stock/0002_note_removed was applied, and requires stock >= 0.4.0'),
    };
    // Where the files are the same, and only the version is older.
    await expect(gated.refresh?.()).rejects.toMatchObject(refusal);
    // An older tree has no such file: the database itself knows what it requires.
    await rm(later);
    await expect(gated.refresh?.()).rejects.toMatchObject(refusal);
    // A server that starts again under services that run is set up, whatever the clone has.
    await gated.setUp();
    await addMigration('stock', '0002_note_removed.sql', contract);
  });

  it('names the file whose requirement cannot be read', async () => {
    const file = await addMigration('stock', '0003_bad.sql', '-- requires: stock 0.4.0\nSELECT 1');
    await expect(launch.refresh?.()).rejects.toThrow(`${file}: "-- requires: stock 0.4.0" must be`);
    await rm(file);
  });

  it(
    'keeps what was committed when the server is killed',
    async () => {
      await query('service', 'orders', `INSERT INTO outbox (id, note) VALUES (2, 'survives')`);
      await server.stop('SIGKILL');
      server = await startLaunch(launch);
      expect(await query('service', 'orders', 'SELECT note FROM outbox WHERE id = 2')).toEqual([{ note: 'survives' }]);
    },
    START_LIMIT_MS,
  );

  it('sets the new passwords when the secrets were made again', async () => {
    const { createSecrets } = await import('./secrets.ts');
    const fresh = createSecrets();
    const secrets = { ...fresh, postgres: { ...fresh.postgres, superuser: context.secrets.postgres.superuser } };
    await (await resolveComponent('postgres', { ...context, secrets })).setUp();
    await expect(query('service', 'orders', 'SELECT 1')).rejects.toThrow(/password authentication failed/);
    await launch.setUp();
    expect(await query('service', 'orders', 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

it.runIf(process.platform === 'linux')(
  'a server that is killed leaves no shared memory once its data is removed',
  async () => {
    await using other = await aContext({ cacheDir: sharedCacheDir(), migrationsDir });
    const otherLaunch = await resolveComponent('postgres', other);
    await using running = await startLaunch(otherLaunch);
    const pid = running.child.pid as number;
    expect(await readFile(`/proc/${pid}/maps`, 'utf8'), 'all files are below its data').not.toContain('/dev/shm/');
    const segments = await segmentsOf(pid);
    expect(segments, 'PostgreSQL has one in any case').toHaveLength(1);
    await removeSegment(String(otherLaunch.info.dataDir));
    expect(await segmentsOf(pid), 'of a server that runs').toEqual(segments);
    await running.stop('SIGKILL');
    expect(await segmentsOf(pid), 'of one that was killed').toEqual(segments);
    await purgeComponents(other);
    expect(await segmentsOf(pid)).toEqual([]);
  },
  START_LIMIT_MS,
);

it('keeps durability on', async () => {
  const settings = await query(
    'operator',
    'orders',
    `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit') ORDER BY name`,
  );
  expect(settings).toEqual([
    { name: 'fsync', setting: 'on' },
    { name: 'synchronous_commit', setting: 'on' },
  ]);
});

it(
  'runs from the npm package too',
  async () => {
    await using other = await aContext({ cacheDir: sharedCacheDir(), migrationsDir });
    const embedded = await resolveComponent('postgres', other, { forced: 'embedded' });
    await using running = await startLaunch(embedded);
    await embedded.setUp();
    expect(running.child.pid).toBeGreaterThan(0);
    const connectionString = databaseUrl('operator', 'orders', { address: embedded.address, secrets: other.secrets });
    expect(await withConnection({ connectionString }, (client) => client.query('SELECT 1'))).toMatchObject({
      rowCount: 1,
    });
  },
  START_LIMIT_MS,
);

async function addMigration(database: string, name: string, sql: string): Promise<string> {
  await mkdir(join(migrationsDir, database), { recursive: true });
  await writeFile(join(migrationsDir, database, name), sql);
  return join(migrationsDir, database, name);
}

async function query(role: DatabaseRole, database: DatabaseName, sql: string): Promise<unknown[]> {
  const connectionString = databaseUrl(role, database, { address: launch.address, secrets: context.secrets });
  return withConnection({ connectionString }, async (client) => (await client.query(sql)).rows);
}

function connectTo(login: { user: string; password: string; database: string }): Promise<void> {
  return withConnection({ ...launch.address, ...login }, async () => undefined);
}

/** Transactions begun in the superuser's database so far; each statement outside a transaction is one. */
async function statementsOfSuperuser(): Promise<number> {
  const [row] = await query(
    'operator',
    'orders',
    `SELECT pg_stat_get_db_xact_commit(oid)::int AS count FROM pg_database WHERE datname = 'postgres'`,
  );
  return (row as { count: number }).count;
}

async function withConnection<Result>(
  config: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(config);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}
