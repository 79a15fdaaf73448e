import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../test/support/infrastructure.ts';
import { type Database, openDatabase, sql } from './database.ts';
import { DatabaseUnavailableError } from './failures.ts';
import { createLogger } from './logger.ts';

const ownPid = sql('SELECT: own pid', 'SELECT pg_backend_pid() AS pid');
const terminate = sql('SELECT: terminate', 'SELECT pg_terminate_backend($1, 5000) AS ended');

let database: Database;
beforeAll(async () => {
  const { url } = await createDatabase('orders');
  const logger = createLogger({ service: 'kit', instance: 'kit-test', level: 'silent' });
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
