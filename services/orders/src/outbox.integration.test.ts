import { randomUUID } from 'node:crypto';
import { type Database, openDatabase, sql } from '@shop/kit/database.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import { claimUnpublished, countPending, markPublished, purgePublished } from './outbox.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const insert = sql(
  'INSERT outbox: test',
  `INSERT INTO outbox (id, order_id, type, payload, "TraceParent") VALUES ($1, $2, 'order.confirmed', '{}', NULL)`,
);
const age = sql('UPDATE outbox: age', `UPDATE outbox SET published_at = now() - interval '400 days' WHERE id = $1`);
const clear = sql('DELETE outbox: all', 'DELETE FROM outbox');
let database: Database;
let other: Database;

beforeAll(async () => {
  const { url } = await createDatabase('orders');
  database = openDatabase({ url, poolSize: 4, applicationName: 'relay-1', logger });
  other = openDatabase({ url, poolSize: 4, applicationName: 'relay-2', logger });
}, START_TIMEOUT_MS);
beforeEach(() => database.query(clear, []));
afterAll(() => Promise.all([database[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]));

async function rows(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  for (const id of ids) await database.query(insert, [id, randomUUID()]);
  return ids;
}

it('gives a row to one relay only while that relay works on it', async () => {
  const ids = await rows(6);
  await database.transaction(async (one) => {
    const mine = await claimUnpublished(one, 4);
    const theirs = await other.transaction((two) => claimUnpublished(two, 10));
    expect(mine.map(({ id }) => id)).toEqual(ids.slice(0, 4));
    expect(theirs.map(({ id }) => id)).toEqual(ids.slice(4));
  });
});

it('frees the rows of a relay that crashed before it had marked them', async () => {
  const ids = await rows(3);
  const crashed = database.transaction(async (one) => {
    const [first] = await claimUnpublished(one, 10);
    await markPublished(one, [first?.id as string]);
    throw new Error('killed');
  });
  await expect(crashed).rejects.toThrow('killed');
  const again = await other.transaction((two) => claimUnpublished(two, 10));
  expect(again.map(({ id }) => id)).toEqual(ids);
});

it('counts what is not published, and purges what was published more than a year ago', async () => {
  const [old, recent] = await rows(3);
  await database.query(age, [old]);
  await database.transaction((one) => markPublished(one, [recent as string]));
  const pending = await countPending(database);
  expect(pending).toEqual({ count: 1, oldestAgeS: expect.any(Number) });
  expect(pending.oldestAgeS).toBeGreaterThan(0);
  expect(await purgePublished(database, { days: 365, limit: 10 })).toBe(1);
  expect(await purgePublished(database, { days: 365, limit: 10 })).toBe(0);
});
