import pg from 'pg';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import type { TestDatabase } from '../../../test/support/postgres.ts';
import { waitUntil } from '../shared/wait-until.ts';
import type { DatabaseName } from '../topology/databases.ts';
import type { Administration } from './administration.ts';
import { moveFromFullDisks, readDisks } from './disk-space.ts';
import { readSessions, terminateSessions } from './sessions.ts';
import { makeWritable } from './writable.ts';

/* Goal: what operators do to sessions and settings, on a real server. Method: a database that is this file's alone. */

const WAIT_MS = 10_000;

let made: TestDatabase;
/** The copy's name, which the functions take for that of a service's database. */
let database: DatabaseName;
let administration: Pick<Administration, 'query'>;
const clients: pg.Client[] = [];

beforeAll(async () => {
  made = await createDatabase('orders');
  database = new URL(made.superuserUrl).pathname.slice(1) as DatabaseName;
  administration = {
    async query<Row extends object>(_: DatabaseName, text: string, values?: readonly unknown[]) {
      const client = new pg.Client({ connectionString: made.superuserUrl, application_name: 'administration' });
      await client.connect();
      try {
        return (await client.query<Row>(text, values && [...values])).rows;
      } finally {
        await client.end();
      }
    },
  };
}, START_TIMEOUT_MS);
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end().catch(() => undefined)));
});

async function open(application: string, url = made.url): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: application });
  // Ended by the server on purpose.
  client.on('error', () => undefined);
  await client.connect();
  clients.push(client);
  return client;
}

async function sessionOf(application: string) {
  const { sessions } = await readSessions([database], administration);
  return sessions.find((session) => session.application === application);
}

/** A session that holds a lock on `orders`, and one that waits for it. */
async function blocked() {
  const holder = await open('holder');
  await holder.query(
    `BEGIN; UPDATE orders SET customer = 'Ann' WHERE customer = 'Bob'; LOCK TABLE orders IN SHARE ROW EXCLUSIVE MODE`,
  );
  const waiter = await open('waiter');
  const waiting = waiter.query(`UPDATE orders SET customer = 'secret name'`).then(
    () => 'done',
    (error: Error) => error.message,
  );
  await waitUntil('the statement to wait', WAIT_MS, async () => {
    return (await sessionOf('waiter'))?.waitsFor === 'Lock relation' ? true : undefined;
  });
  return { waiting };
}

describe('sessions', () => {
  it('show who waits for whom, what is locked, and statements without values', async () => {
    await blocked();
    const holder = await sessionOf('holder');
    const waiter = await sessionOf('waiter');
    expect(holder).toMatchObject({ role: 'orders', database, state: 'idle in transaction', blockedBy: [] });
    expect(holder?.locks).toContainEqual({ mode: 'ShareRowExclusiveLock', table: 'orders' });
    expect(holder?.transactionMs).toBeGreaterThanOrEqual(0);
    expect(waiter).toMatchObject({
      state: 'active',
      blockedBy: [holder?.pid],
      statement: 'UPDATE orders SET customer = ?',
    });
    expect(await sessionOf('administration')).toBeUndefined();
  });

  it('that are idle are in no transaction; the server says how full it is', async () => {
    await open('idler');
    const { connections, maximum, reserved } = await readSessions([database], administration);
    expect(await sessionOf('idler')).toMatchObject({ state: 'idle', transactionMs: null, locks: [] });
    expect(connections).toBeGreaterThan(0);
    expect(maximum - reserved).toBeGreaterThan(connections);
  });

  it('end, and who waited for them goes on', async () => {
    const { waiting } = await blocked();
    const holder = await sessionOf('holder');
    await terminateSessions([holder as NonNullable<typeof holder>], false, administration);
    expect(await waiting).toBe('done');
    expect(await sessionOf('holder')).toBeUndefined();
  });

  it('do not end by a pid that belongs to another session now, and none of those named with it ends', async () => {
    await open('meant');
    await open('neighbour');
    const meant = await sessionOf('meant');
    const neighbour = await sessionOf('neighbour');
    const earlier = { ...(meant as NonNullable<typeof meant>), startedAt: '2026-01-01T00:00:00.000000Z' };
    await expect(
      terminateSessions([neighbour as NonNullable<typeof neighbour>, earlier], false, administration),
    ).rejects.toMatchObject({ code: 'session_changed' });
    expect(await sessionOf('meant')).toBeDefined();
    expect(await sessionOf('neighbour')).toBeDefined();
  });

  it('that have ended are reported', async () => {
    const client = await open('gone');
    const gone = await sessionOf('gone');
    await client.end();
    await waitUntil('the session to end', WAIT_MS, async () => ((await sessionOf('gone')) ? undefined : true));
    await expect(terminateSessions([gone as NonNullable<typeof gone>], false, administration)).rejects.toMatchObject({
      code: 'session_not_found',
    });
  });
});

describe('a database that is read-only', () => {
  const write = 'DELETE FROM orders WHERE false';
  const refusal = { code: '25006' };

  it.each([
    [
      'for its service',
      (name: string) => `ALTER ROLE orders IN DATABASE ${name} SET default_transaction_read_only = on`,
    ],
    ['for all roles', (name: string) => `ALTER DATABASE ${name} SET default_transaction_read_only = true`],
  ])('%s takes writes again, also in sessions', async (_, setting) => {
    await administration.query(database, setting(database));
    const before = await open('before');
    await expect(before.query(write)).rejects.toMatchObject(refusal);

    const planned = await makeWritable(database, true, administration);
    expect(planned).toMatchObject({ settings: [{ database }], dryRun: true });
    expect(planned.sessions).toBeGreaterThanOrEqual(1);
    await expect(before.query(write)).rejects.toMatchObject(refusal);

    expect(await makeWritable(database, false, administration)).toEqual({ ...planned, dryRun: false });
    expect(await sessionOf('before')).toBeUndefined();
    await (await open('after')).query(write);
  });

  it('loses no session of a role that could write', async () => {
    await administration.query(
      database,
      `ALTER ROLE orders IN DATABASE ${database} SET default_transaction_read_only = on`,
    );
    await open('of the operator', made.operatorUrl);
    await makeWritable(database, false, administration);
    expect(await sessionOf('of the operator')).toBeDefined();
  });

  it('is none where nothing says so: no session ends', async () => {
    await administration.query(
      database,
      `ALTER ROLE orders IN DATABASE ${database} SET default_transaction_read_only = off`,
    );
    await open('undisturbed');
    expect(await makeWritable(database, false, administration)).toEqual({
      database,
      settings: [],
      sessions: 0,
      dryRun: false,
    });
    expect(await sessionOf('undisturbed')).toBeDefined();
  });
});

describe('disks of a database', () => {
  it('are those of the data directory and of its tablespaces; what is on a full one moves, with its rows', async () => {
    const tablespace = `full_${database}`;
    const admin = await open('admin', made.superuserUrl);
    // A tablespace inside the data directory: this machine needs no second disk for it.
    await admin.query('SET allow_in_place_tablespaces = on');
    await admin.query(`CREATE TABLESPACE ${tablespace} LOCATION ''`);
    try {
      await admin.query(
        `CREATE TABLE parcels (id int PRIMARY KEY USING INDEX TABLESPACE ${tablespace}) TABLESPACE ${tablespace}`,
      );
      await admin.query('INSERT INTO parcels VALUES (1), (2)');
      const objects = ['parcels', 'parcels_pkey'];
      const full = { tablespace, path: 'pg_tblspc', freeBytes: 0, isFull: true, objects };
      const after = await moveFromFullDisks(database, [full], administration);
      expect(after).toMatchObject([{ tablespace: 'pg_default', isFull: false }]);
      expect((await admin.query('SELECT id FROM parcels ORDER BY id')).rows).toEqual([{ id: 1 }, { id: 2 }]);
    } finally {
      await admin.query('DROP TABLE IF EXISTS parcels');
      await admin.query(`DROP TABLESPACE ${tablespace}`);
    }
  });

  it('have free space, and nothing moves where the data directory is full', async () => {
    const [home] = await readDisks(database, administration);
    expect(home).toMatchObject({ tablespace: 'pg_default', isFull: false });
    expect(home?.freeBytes).toBeGreaterThan(0);
    const full = { ...(home as NonNullable<typeof home>), isFull: true };
    await expect(moveFromFullDisks(database, [full], administration)).rejects.toMatchObject({
      code: 'operation_ineffective',
    });
  });
});
