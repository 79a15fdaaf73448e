/*
 * Goal: a service reaches its own data only, no other machine reaches anything, and no secret or customer stands where
 * others can read it.
 * Method: a real platform after some orders; its roles, sockets, processes and files are looked at as an attacker
 * would.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Secrets } from '../../cli/src/providers/secrets.ts';
import { type DatabaseName, databaseNames, mainTables } from '../../cli/src/topology/databases.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { place, send } from './support/client.ts';
import { untilDrained } from './support/ledger.ts';
import { isLoopback, listenersOf, processesMarked } from './support/processes.ts';

const MARKER = `Olena-${randomUUID()}`;

let platform: TestPlatform;
let secrets: Secrets;

beforeAll(async () => {
  platform = await startPlatform({ project: 'e2e-isolation' });
  secrets = JSON.parse(await platform.secrets()) as Secrets;
  for (const productId of [1, 12, 13]) {
    await place(platform, { body: JSON.stringify({ customer: MARKER, lines: [{ productId, quantity: 1 }] }) });
  }
  await place(platform, { body: JSON.stringify({ customer: `${MARKER}\u0000`, lines: [] }) });
  await untilDrained(platform);
});
afterAll(() => platform?.stop());

/** Connects as a role and runs one statement; resolves with the SQLSTATE of the refusal, undefined when there is none. */
async function refusal(login: { user: string; password: string; database: string }, statement = 'SELECT 1') {
  const { hostname, port } = new URL(platform.databaseUrls.orders);
  const client = new pg.Client({ ...login, host: hostname, port: Number(port) });
  try {
    await client.connect();
    await client.query(statement);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  } finally {
    await client.end();
  }
}

const serviceLogin = (user: DatabaseName, database: string = user) => ({
  user,
  password: secrets.postgres.services[user],
  database,
});

/** SQLSTATEs: insufficient_privilege, invalid_password. */
const NO_PRIVILEGE = '42501';
const BAD_PASSWORD = '28P01';

/** All tables of those that have more than their first one. */
const tables: Readonly<Partial<Record<DatabaseName, readonly string[]>>> = {
  catalog: ['products', 'product_prices'],
  orders: ['orders', 'saga_owners', 'outbox'],
  stock: ['inventory', 'reservations'],
  payments: ['payments', 'payment_effects'],
  shipping: ['inbox', '"Shipments"', 'parcels'],
};

function tablesOf(name: DatabaseName): readonly string[] {
  return tables[name] ?? [mainTables[name]];
}

describe.each(databaseNames)('the role %s', (name) => {
  it('reaches its own database', async () => {
    expect(await refusal(serviceLogin(name), `SELECT FROM ${tablesOf(name)[0]}`)).toBeUndefined();
  });

  it.each([...databaseNames.filter((other) => other !== name), 'postgres', 'template1'])(
    'is refused by the database %s',
    async (other) => {
      expect(await refusal(serviceLogin(name, other))).toBe(NO_PRIVILEGE);
    },
  );

  it.each([
    'CREATE TABLE public.mine (id int)',
    'CREATE SCHEMA mine',
    'CREATE ROLE mine',
    'CREATE DATABASE mine',
    'CREATE EXTENSION dblink',
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "SELECT pg_read_file('PG_VERSION')",
    'SET ROLE postgres',
  ])('may not %s', async (statement) => {
    expect(['42501', '22023', '0A000', '42883', '42704', '58P01']).toContain(
      await refusal(serviceLogin(name), statement),
    );
    expect(await refusal(serviceLogin(name), 'SELECT FROM public.mine')).toBe('42P01');
  });

  it.each(['DROP TABLE', 'ALTER TABLE', 'TRUNCATE'])('may not %s of its tables', async (verb) => {
    for (const table of tablesOf(name)) {
      const statement = verb === 'ALTER TABLE' ? `${verb} ${table} ADD COLUMN mine int` : `${verb} ${table}`;
      expect(await refusal(serviceLogin(name), statement)).toBe(NO_PRIVILEGE);
    }
  });

  it('is not let in with a wrong password, or none', async () => {
    expect(await refusal({ ...serviceLogin(name), password: 'wrong' })).toBe(BAD_PASSWORD);
    expect(await refusal({ ...serviceLogin(name), password: ' ' })).toBe(BAD_PASSWORD);
  });
});

describe("the command line's role", () => {
  it('reads every table, and changes none but what an outbox row needs to be sent again', async () => {
    for (const database of databaseNames) {
      const login = { user: 'shop_operator', password: secrets.postgres.operator, database };
      for (const table of tablesOf(database)) {
        expect(await refusal(login, `SELECT * FROM ${table} LIMIT 1`)).toBeUndefined();
        expect(await refusal(login, `DELETE FROM ${table}`)).toBe(NO_PRIVILEGE);
      }
    }
  });
});

describe('the network', () => {
  it('is loopback only: no process of the platform listens elsewhere', async () => {
    const { mark, instances, supervisor } = await platform.state();
    const pids = [supervisor.pid, ...processesMarked(mark).map(({ pid }) => pid)];
    for (const { process } of instances) expect(pids).toContain(process?.pid);
    const listeners = listenersOf(pids);
    // Six services, stock's second listener, three components and the telemetry receiver at least.
    expect(listeners.length).toBeGreaterThanOrEqual(11);
    expect(listeners.filter((address) => !isLoopback(address))).toEqual([]);
  });

  it('lets no internal route through the gateway', async () => {
    for (const path of [
      '/orders',
      '/products/1',
      '/payments',
      '/shipments/x',
      '/metrics',
      '/v1/traces',
      '/api/metrics',
    ]) {
      expect(await send(platform.gatewayUrl + path)).toMatchObject({ status: 404 });
    }
  });
});

/** Every secret value of the platform with its place in secrets.json. */
function secretValues(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return value.length >= 8 ? [[path, value]] : [];
  return Object.entries((value ?? {}) as object).flatMap(([key, child]) => secretValues(child, `${path}/${key}`));
}

/** Files below a folder, sockets and pipes left out. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const below = entries.map((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : [];
  });
  return (await Promise.all(below)).flat();
}

describe('secrets', () => {
  it('are in no command line', async () => {
    const { mark, supervisor } = await platform.state();
    const lines = [...processesMarked(mark).map(({ commandLine }) => commandLine)];
    lines.push((await readFile(`/proc/${supervisor.pid}/cmdline`, 'utf8')).replaceAll('\0', ' '));
    expect(lines.length).toBeGreaterThan(10);
    for (const [path, secret] of secretValues(secrets)) {
      expect(
        lines.filter((line) => line.includes(secret)),
        path,
      ).toEqual([]);
    }
  });

  it('are in no log, and not in state.json', async () => {
    const { logDir, stateFile } = platform.project;
    const files = [...(await filesBelow(logDir)), stateFile];
    expect(files.length).toBeGreaterThan(9);
    for (const file of files) {
      const text = await readFile(file, 'utf8');
      for (const [path, secret] of secretValues(secrets))
        expect(text.includes(secret), `${path} in ${file}`).toBe(false);
    }
  });

  it('are in no output of the command line', async () => {
    const outputs = await Promise.all([
      platform.shopctl('status', '--json'),
      platform.shopctl('doctor', '--json'),
      platform.shopctl('logs', '--json'),
    ]);
    for (const { stdout, stderr } of outputs) {
      for (const [path, secret] of secretValues(secrets)) expect((stdout + stderr).includes(secret), path).toBe(false);
    }
  });

  it('and everything else of the project is for its user only: files 0600, folders 0700', async () => {
    const { stateDir, socketPath } = platform.project;
    expect((await lstat(stateDir)).mode & 0o777).toBe(0o700);
    const open = await promisify(execFile)('find', [stateDir, '-maxdepth', '2', '-perm', '/077', '-not', '-type', 'l']);
    expect(open.stdout).toBe('');
    expect((await lstat(platform.project.secretsFile)).mode & 0o777).toBe(0o600);
    expect((await lstat(socketPath)).mode & 0o077).toBe(0);
    const readable = await promisify(execFile)('find', [stateDir, '-type', 'f', '-perm', '/022']);
    expect(readable.stdout).toBe('');
  });
});

describe('the customer', () => {
  it('is in the orders database and in no other table of the five', async () => {
    const found: string[] = [];
    for (const database of databaseNames) {
      for (const table of tablesOf(database)) {
        const [row] = await platform.query<{ count: number }>(
          database,
          `SELECT count(*)::int AS count FROM ${table} AS t WHERE t::text LIKE '%' || $1 || '%'`,
          [MARKER],
        );
        if ((row?.count ?? 0) > 0) found.push(`${database}.${table}`);
      }
    }
    expect(found).toEqual(['orders.orders']);
  });

  it('is in no log of any service, component or the supervisor', async () => {
    for (const file of await filesBelow(platform.project.logDir)) {
      expect((await readFile(file, 'utf8')).includes(MARKER), file).toBe(false);
    }
  });

  it('is in no span and no metric', async () => {
    for (const path of [
      '/api/v3/traces?query.service_name=orders&query.search_depth=100',
      '/api/v3/traces?query.service_name=gateway&query.search_depth=100',
      '/api/metrics',
    ]) {
      const { status, text } = await send(platform.telemetryUrl + path);
      expect(status).toBe(200);
      expect(text.length).toBeGreaterThan(1_000);
      expect(text).not.toContain(MARKER);
    }
  });
});
