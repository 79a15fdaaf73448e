import { randomUUID } from 'node:crypto';
import { type Database, openDatabase, sql } from '@shop/kit/database.ts';
import { createLogger } from '@shop/kit/logger.ts';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import { unreadGauges } from './metrics.ts';
import { countPending } from './outbox.ts';
import type { Publisher } from './publisher.ts';
import { startRelay } from './relay.ts';

const ROWS = 120;
const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const publisher: Publisher = {
  ready: true,
  publish: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
};
const insert = sql(
  'INSERT outbox: test',
  `INSERT INTO outbox (id, order_id, type, payload, "TraceParent") VALUES ($1, $2, 'order.confirmed', '{}', NULL)`,
);
let database: Database;

beforeAll(async () => {
  const { url, ownerUrl } = await createDatabase('orders');
  database = openDatabase({ url, poolSize: 3, applicationName: 'relay', logger, statementTimeoutMs: 500 });
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  // A row takes 10 ms: all of them take more than a statement's limit.
  await owner.query(`CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END $$`);
  await owner.query('CREATE TRIGGER slow BEFORE UPDATE ON outbox FOR EACH ROW EXECUTE FUNCTION take_time()');
  await owner.end();
}, START_TIMEOUT_MS);
afterAll(() => database[Symbol.asyncDispose]());

it('drains a backlog although PostgreSQL cannot mark all of it within the time limit of a statement', async () => {
  for (let row = 0; row < ROWS; row++) await database.query(insert, [randomUUID(), randomUUID()]);
  const gauges = { ...unreadGauges };
  const relay = startRelay({ database, publisher, logger, failpoint: async () => {}, gauges });
  try {
    await expect.poll(() => countPending(database), { timeout: 20_000 }).toEqual({ count: 0, oldestAgeS: 0 });
  } finally {
    await relay.stop();
  }
});
