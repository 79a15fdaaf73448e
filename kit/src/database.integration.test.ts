import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../test/support/infrastructure.ts';
import { type Database, openDatabase, sql } from './database.ts';
import { ReplyDroppedError } from './failpoints.ts';
import { DatabaseUnavailableError } from './failures.ts';
import { createLogger } from './logger.ts';

const ownPid = sql('SELECT: own pid', 'SELECT pg_backend_pid() AS pid');
const terminate = sql('SELECT: terminate', 'SELECT pg_terminate_backend($1, 5000) AS ended');

const logger = createLogger({ service: 'kit', instance: 'kit-test', level: 'silent' });
let database: Database;
let url: string;
beforeAll(async () => {
  ({ url } = await createDatabase('orders'));
  database = openDatabase({ url, poolSize: 2, applicationName: 'kit-test', logger });
}, START_TIMEOUT_MS);
afterAll(() => database[Symbol.asyncDispose]());

/** As a relay loses its connection while it waits for the broker: the driver tells by an event, not by a rejection. */
it('a connection lost between two statements of a transaction fails the transaction, not the process', async () => {
  const work = database.transaction(async (transaction) => {
    const { rows } = await transaction.query<{ pid: number }>(ownPid, []);
    await database.query(terminate, [rows[0]?.pid]);
    // The end of the connection arrives on another socket than the answer above.
    await expect.poll(() => transaction.query(ownPid, []).catch((error: unknown) => error)).toBeInstanceOf(Error);
    await transaction.query(ownPid, []);
  });
  await expect(work).rejects.toBeInstanceOf(DatabaseUnavailableError);
  await expect(database.ping()).resolves.toBeUndefined();
});

it('a COMMIT whose answer is lost has taken effect, and its connection is not used again', async () => {
  const renew = sql(
    'INSERT saga_owners: test',
    `INSERT INTO saga_owners (id, instance, lease_until) VALUES ($1, 'test', now())`,
  );
  const find = sql('SELECT saga_owners: test', 'SELECT instance FROM saga_owners WHERE id = $1');
  const lose = async () => {
    throw new ReplyDroppedError('failpoint C1');
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

it('statements of a transaction that come together are sent together, and take effect together or not at all', async () => {
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
