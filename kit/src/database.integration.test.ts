import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type Attributes, trace } from '@opentelemetry/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../test/support/infrastructure.ts';
import { openTcpSwitch } from '../../test/support/tcp-switch.ts';
import { someUpstreams } from '../../test/support/upstreams.ts';
import { type Database, openDatabase, type Queryable, sql } from './database.ts';
import { ReplyDroppedError } from './failpoints.ts';
import { DatabaseUnavailableError } from './failures.ts';
import { createLogger } from './logger.ts';
import { seeTelemetry } from './spans/testing.ts';

const ownPid = sql('SELECT: own pid', 'SELECT pg_backend_pid() AS pid');
const terminate = sql('SELECT: terminate', 'SELECT pg_terminate_backend($1, 5000) AS ended');

const logger = createLogger({ service: 'kit', instance: 'kit-test', level: 'silent' });
const telemetry = seeTelemetry();
let database: Database;
let url: string;
beforeAll(async () => {
  ({ url } = await createDatabase('orders'));
  database = openDatabase({ url, poolSize: 2, applicationName: 'kit-test', logger });
}, START_TIMEOUT_MS);
afterAll(() => database[Symbol.asyncDispose]());

/** As a relay loses its connection while it waits for the broker: the driver reports it by an event, not by a rejection. */
it('a connection lost between two statements of a transaction fails the transaction, not the process', async () => {
  const work = database.transaction(async (transaction) => {
    const { rows } = await transaction.query<{ pid: number }>(ownPid, []);
    await database.query(terminate, [rows[0]?.pid]);
    // The end of the connection arrives on another socket than the response above.
    await expect.poll(() => transaction.query(ownPid, []).catch((error: unknown) => error)).toBeInstanceOf(Error);
    await transaction.query(ownPid, []);
  });
  await expect(work).rejects.toBeInstanceOf(DatabaseUnavailableError);
  await expect(database.ping()).resolves.toBeUndefined();
});

it('a COMMIT whose response is lost has taken effect, and its connection is not used again', async () => {
  const renew = sql(
    'INSERT saga_owners: test',
    `INSERT INTO saga_owners (id, instance, lease_until) VALUES ($1, 'test', now())`,
  );
  const find = sql('SELECT saga_owners: test', 'SELECT instance FROM saga_owners WHERE id = $1');
  const lose = async () => {
    throw new ReplyDroppedError('failpoint');
  };
  await using losing = openDatabase({ url, poolSize: 1, applicationName: 'kit-test', logger, committed: lose });
  const id = randomUUID();
  let pid: number | undefined;
  const work = losing.transaction(async (transaction) => {
    pid = (await transaction.query<{ pid: number }>(ownPid, [])).rows[0]?.pid;
    await transaction.query(renew, [id]);
  });
  await expect(work).rejects.toMatchObject({ name: 'DatabaseUnavailableError', sent: true });
  expect((await database.query(find, [id])).count).toBe(1);
  expect((await losing.query<{ pid: number }>(ownPid, [])).rows[0]?.pid).not.toBe(pid);
});

it('statements that a transaction is asked for together take effect together or not at all', async () => {
  const insert = sql(
    'INSERT saga_owners: many',
    `INSERT INTO saga_owners (id, instance, lease_until) VALUES ($1, $2, now())`,
  );
  const count = sql('SELECT saga_owners: many', 'SELECT count(*)::int AS count FROM saga_owners WHERE instance = $1');
  const countOf = async (instance: string) =>
    (await database.query<{ count: number }>(count, [instance])).rows[0]?.count;
  const ids = Array.from({ length: 100 }, () => randomUUID());

  const inserted = await database.transaction((transaction) =>
    Promise.all(ids.map(async (id) => (await transaction.query(insert, [id, 'together'])).count)),
  );
  expect(inserted).toEqual(ids.map(() => 1));
  expect(await countOf('together')).toBe(100);

  const repeated = [randomUUID(), ids[0] as string, randomUUID()];
  const work = database.transaction((transaction) =>
    Promise.all(repeated.map((id) => transaction.query(insert, [id, 'none']))),
  );
  await expect(work).rejects.toMatchObject({ code: '23505' });
  expect(await countOf('none')).toBe(0);
  await expect(database.ping()).resolves.toBeUndefined();
});

it('statements behind one that fails are not sent and fail with it, and run afterwards', async () => {
  const fail = sql('SELECT: division', 'SELECT 1 / $1::int AS quotient');
  const unseen = sql('SELECT: unseen', 'SELECT $1::text AS response');
  const other = sql('SELECT: other', 'SELECT 2 AS two');
  await using single = openDatabase({ url, poolSize: 1, applicationName: 'kit-test', logger });
  let outcomes: unknown[] = [];
  const work = single.transaction(async (transaction) => {
    const asked = [
      transaction.query(unseen, ['before']),
      transaction.query(fail, [0]),
      transaction.query(other, []),
      transaction.query(unseen, ['behind']),
    ];
    outcomes = (await Promise.allSettled(asked)).map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value.rows : outcome.reason.code,
    );
  });
  await expect(work).rejects.toMatchObject({ code: '22012' });
  expect(outcomes).toEqual([[{ response: 'before' }], '22012', '22012', '22012']);
  expect((await single.query(unseen, ['again'])).rows).toEqual([{ response: 'again' }]);
  expect((await single.query(other, [])).rows).toEqual([{ two: 2 }]);
});

it('a transaction whose work hides the failure of a statement is rolled back and rejects with it', async () => {
  const insert = sql(
    'INSERT saga_owners: hidden',
    `INSERT INTO saga_owners (id, instance, lease_until) VALUES ($1, 'hidden', now())`,
  );
  const count = sql(
    'SELECT saga_owners: hidden',
    `SELECT count(*)::int AS count FROM saga_owners WHERE instance = 'hidden'`,
  );
  const id = randomUUID();
  const work = database.transaction(async (transaction) => {
    await transaction.query(insert, [id]);
    await transaction.query(insert, [id]).catch(() => undefined);
  });
  await expect(work).rejects.toMatchObject({ code: '23505' });
  expect((await database.query<{ count: number }>(count, [])).rows[0]?.count).toBe(0);
});

it('a failed statement leads back to who asked for it', async () => {
  async function theCaller() {
    await database.query(sql('SELECT: nothing', 'SELECT nothing'), []);
  }
  const error = await theCaller().catch((failure: unknown) => failure);
  expect(error).toMatchObject({ code: '42703', stack: expect.stringContaining('theCaller') });
});

it('each statement of a transaction has its own span, in the context it was asked for in', async () => {
  const echo = sql('SELECT: echo', 'SELECT $1::int AS number');
  await using traced = openDatabase({ url, poolSize: 1, applicationName: 'kit-test', logger });
  const parents: (string | undefined)[] = [];
  await telemetry.inParent(() =>
    traced.transaction((transaction) =>
      Promise.all(
        [0, 1, 2].map((number) =>
          telemetry.inParent(async () => {
            parents.push(trace.getActiveSpan()?.spanContext().spanId);
            await transaction.query(echo, [number]);
          }),
        ),
      ),
    ),
  );
  const spans = telemetry.spans().filter(({ attributes }) => attributes['db.query.text'] !== undefined);
  expect(spans.map(({ name }) => name)).toEqual(['BEGIN', 'SELECT', 'SELECT', 'SELECT', 'COMMIT']);
  expect(spans.slice(1, 4).map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(parents);
});

it('a value that cannot be sent undoes what was done before it', async () => {
  const insert = sql(
    'INSERT saga_owners: unsent',
    `INSERT INTO saga_owners (id, instance, lease_until) VALUES ($1, $2, now())`,
  );
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const id = randomUUID();
  const work = database.transaction((transaction) =>
    Promise.all([transaction.query(insert, [id, 'unsent']), transaction.query(insert, [circular, 'unsent'])]),
  );
  await expect(work).rejects.toBeInstanceOf(DatabaseUnavailableError);
  const find = sql('SELECT saga_owners: unsent', 'SELECT instance FROM saga_owners WHERE id = $1');
  expect((await database.query(find, [id])).count).toBe(0);
});

it('a server that does not respond in time fails the next statements, too, and the connection is not used again', async () => {
  await using single = openDatabase({ url, poolSize: 1, applicationName: 'kit-test', logger, statementTimeoutMs: 300 });
  const outcomes: unknown[] = [];
  let pid: number | undefined;
  const work = single.transaction(async (transaction) => {
    pid = (await transaction.query<{ pid: number }>(ownPid, [])).rows[0]?.pid;
    await transaction.query(sql('SET: no limit', 'SET LOCAL statement_timeout = 0'), []);
    const asked = [transaction.query(sql('SELECT: sleep', 'SELECT pg_sleep(60)'), []), transaction.query(ownPid, [])];
    outcomes.push(...(await Promise.allSettled(asked)));
  });
  await expect(work).rejects.toMatchObject({ sent: true });
  const failed = { status: 'rejected', reason: expect.any(DatabaseUnavailableError) };
  expect(outcomes).toEqual([failed, failed]);
  expect((await single.query<{ pid: number }>(ownPid, [])).rows[0]?.pid).not.toBe(pid);
});

it('statements return in the order in which they are sent, also those sent meanwhile', async () => {
  const echo = sql('SELECT: echo', 'SELECT $1::int AS number');
  const numbers = await database.transaction(async (transaction) => {
    const returned: number[] = [];
    const ask = async (number: number) => {
      const { rows } = await transaction.query<{ number: number }>(echo, [number]);
      returned.push(rows[0]?.number as number);
      if (number < 40) await ask(number + 20);
    };
    await Promise.all(Array.from({ length: 20 }, (_, number) => ask(number)));
    return returned;
  });
  expect(numbers).toEqual(Array.from({ length: 60 }, (_, number) => number));
});

it('a statement that is asked for when its transaction has ended is not run', async () => {
  const insert = sql(
    'INSERT saga_owners: late',
    `INSERT INTO saga_owners (id, instance, lease_until) VALUES ($1, 'late', now())`,
  );
  const count = sql(
    'SELECT saga_owners: late',
    `SELECT count(*)::int AS count FROM saga_owners WHERE instance = 'late'`,
  );
  const refused = new TypeError('refused by the caller');
  let late: Promise<unknown> = Promise.resolve();
  let kept: Queryable = database;
  const work = database.transaction(async (transaction) => {
    kept = transaction;
    const first = transaction.query(ownPid, []);
    // In work when the transaction fails, and goes on after it.
    late = first.then(() => transaction.query(insert, [randomUUID()])).catch((error: unknown) => error);
    await first;
    throw refused;
  });
  await expect(work).rejects.toBe(refused);
  await late;
  await expect(kept.query(insert, [randomUUID()])).rejects.toThrow('had ended');
  expect((await database.query<{ count: number }>(count, [])).rows[0]?.count).toBe(0);
});

it('after a BEGIN that fails nothing is run', async () => {
  await using single = openDatabase({ url, poolSize: 1, applicationName: 'kit-test', logger });
  // The server refuses to prepare a second statement of that name.
  await single.query(sql('PREPARE: taken', 'PREPARE "BEGIN" AS SELECT 1'), []);
  const insert = sql(
    'INSERT saga_owners: no BEGIN',
    `INSERT INTO saga_owners (id, instance, lease_until) VALUES ($1, 'none', now())`,
  );
  const work = single.transaction((transaction) => transaction.query(insert, [randomUUID()]));
  await expect(work).rejects.toMatchObject({ code: '42P05' });
  const count = sql(
    'SELECT saga_owners: none',
    `SELECT count(*)::int AS count FROM saga_owners WHERE instance = 'none'`,
  );
  expect((await single.query<{ count: number }>(count, [])).rows[0]?.count).toBe(0);
});

it('callers that wait for a connection are counted meanwhile, and their wait when they have one', async () => {
  const own = await createDatabase('orders');
  await using single = openDatabase({ url: own.url, poolSize: 1, applicationName: 'kit-test', logger });
  const { host, pathname } = new URL(own.url);
  const name = `${host}${pathname}`;
  /** The series of this test's pool, by the state that a connection is in. */
  const ofPool = <Point extends { attributes: Attributes }>(points: readonly Point[]) =>
    points.filter(({ attributes }) => attributes['db.client.connection.pool.name'] === name);
  const valuesOf = async (metric: string) =>
    ofPool(await telemetry.values(metric)).map(({ attributes, value }) => [
      attributes['db.client.connection.state'],
      value,
    ]);
  const waits = async () => ofPool(await telemetry.durations('db.client.connection.wait_time'))[0]?.count;
  const held = Promise.withResolvers<void>();
  const holding = single.transaction(async (transaction) => {
    await transaction.query(ownPid, []);
    await held.promise;
  });
  const waiting = single.query(ownPid, []);
  try {
    await expect.poll(waits).toBe(1);
    expect(await valuesOf('db.client.connection.pending_requests')).toEqual([[undefined, 1]]);
    expect(await valuesOf('db.client.connection.count')).toEqual([
      ['idle', 0],
      ['used', 1],
    ]);
  } finally {
    held.resolve();
    await Promise.all([holding, waiting]);
  }
  expect(await waits()).toBe(2);
  expect(await valuesOf('db.client.connection.count')).toEqual([
    ['idle', 1],
    ['used', 0],
  ]);
});

describe('a database whose address changes', () => {
  it('gets new statements there, and at the former address what was begun there', async () => {
    await using other = await openTcpSwitch(url);
    await using last = await openTcpSwitch(url);
    const { edge: upstreams, set } = someUpstreams();
    set({ address: `127.0.0.1:${other.port}` });
    await using moving = openDatabase({ url, upstreams, poolSize: 2, applicationName: 'kit-test', logger });
    await moving.ping();
    expect(other.connections).toBe(2);
    const pidOf = async (queryable: Queryable) => (await queryable.query<{ pid: number }>(ownPid, [])).rows[0]?.pid;
    await moving.transaction(async (transaction) => {
      const before = await pidOf(transaction);
      set({ address: `127.0.0.1:${last.port}` });
      expect(await pidOf(moving)).not.toBe(before);
      expect(last.connections).toBeGreaterThan(0);
      expect(await pidOf(transaction)).toBe(before);
    });
    await expect.poll(() => other.connections).toBe(0);
    await expect.poll(() => last.connections).toBe(2);
    set();
    await pidOf(moving);
    await expect.poll(() => last.connections).toBe(0);
  });

  it('loses no statement, also none that waits for a connection', async () => {
    await using other = await openTcpSwitch(url);
    const { edge: upstreams, set } = someUpstreams();
    await using moving = openDatabase({ url, upstreams, poolSize: 2, applicationName: 'kit-test', logger });
    let isOver = false;
    let statements = 0;
    const callers = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        await moving.query(ownPid, []);
        statements += 1;
      }
    });
    for (let round = 0; round < 6; round += 1) {
      const enough = statements + 50;
      await expect.poll(() => statements, { timeout: 20_000 }).toBeGreaterThan(enough);
      if (round % 2 === 0) set({ address: `127.0.0.1:${other.port}` });
      else set();
    }
    isOver = true;
    await Promise.all(callers);
    await expect.poll(() => other.connections).toBe(0);
  });

  it('is found by a statement that waited for a silent server', async () => {
    // The system accepts connections, and nothing is ever read from them.
    const silent = createServer({ pauseOnConnect: true });
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
    const connected = once(silent, 'connection');
    const { edge: upstreams, set } = someUpstreams();
    set({ address: `127.0.0.1:${(silent.address() as AddressInfo).port}` });
    await using moving = openDatabase({ url, upstreams, poolSize: 1, applicationName: 'kit-test', logger });
    const waiting = moving.query(ownPid, []);
    const [socket] = await connected;
    set();
    expect((await waiting).count).toBe(1);
    socket.destroy();
    silent.close();
  });

  it('is named in the spans and the metrics of each statement', async () => {
    await using other = await openTcpSwitch(url);
    const { edge: upstreams, set } = someUpstreams();
    await using moving = openDatabase({ url, upstreams, poolSize: 1, applicationName: 'kit-test', logger });
    await telemetry.inParent(() => moving.query(ownPid, []));
    set({ address: `127.0.0.1:${other.port}` });
    await telemetry.inParent(() => moving.query(ownPid, []));
    expect(telemetry.spans().map(({ attributes }) => attributes['server.port'])).toEqual([
      Number(new URL(url).port),
      other.port,
    ]);
  });
});
