import { describe, expect, it, vi } from 'vitest';
import { openFakePostgres } from '../../test/support/fake-postgres.ts';
import { type Database, openDatabase, sql } from './database.ts';
import { createLogger } from './logger.ts';

const logger = createLogger({ service: 'kit', instance: 'kit-test', level: 'silent' });
const anything = sql('SELECT: anything', 'SELECT');

function open(
  url: string,
  options: { poolSize: number; connectTimeoutMs?: number; statementTimeoutMs?: number },
): Database {
  return openDatabase({ url, applicationName: 'kit-test', logger, connectTimeoutMs: 5_000, ...options });
}

describe('the pool', () => {
  it('survives the loss of one connection while another is being opened', async () => {
    const opening = Promise.withResolvers<void>();
    await using fake = await openFakePostgres((connection) => (connection === 2 ? opening.promise : undefined));
    await using database = open(fake.url, { poolSize: 2 });
    const filled = database.ping();
    await expect.poll(() => fake.connections).toBe(2);
    using warned = vi.spyOn(logger, 'warn');
    fake.drop(1);
    await expect.poll(() => warned.mock.calls).toHaveLength(1);
    opening.resolve();
    await filled;
    await expect(database.query(anything, [])).resolves.toMatchObject({ count: 0 });
  });

  it('is filled by the first ping', async () => {
    await using fake = await openFakePostgres(() => undefined);
    await using database = open(fake.url, { poolSize: 4 });
    await database.ping();
    expect(fake.connections).toBe(4);
  });

  it('fails the ping until it has been filled, and is filled by the next one', async () => {
    let isDown = true;
    await using fake = await openFakePostgres((connection) => {
      if (isDown && connection > 1) fake.drop(connection);
    });
    await using database = open(fake.url, { poolSize: 3 });
    await expect(database.ping()).rejects.toMatchObject({ name: 'DatabaseUnavailableError' });
    isDown = false;
    await database.ping();
    expect(fake.connections).toBe(5);
  });

  it('fails no ping once it has been filled: a connection that is lost is opened by the next one', async () => {
    let isDown = false;
    await using fake = await openFakePostgres((connection) => {
      if (isDown && connection > 3) fake.drop(connection);
    });
    await using database = open(fake.url, { poolSize: 3 });
    await database.ping();
    using warned = vi.spyOn(logger, 'warn');
    fake.drop(1);
    await expect.poll(() => warned.mock.calls).toHaveLength(1);
    isDown = true;
    await expect(database.ping()).resolves.toBeUndefined();
    await expect.poll(() => fake.connections).toBe(4);
    isDown = false;
    await expect
      .poll(async () => {
        await database.ping();
        return fake.connections;
      })
      .toBe(5);
  });

  it('gives its idle connections to statements while a ping opens the missing one', async () => {
    const opening = Promise.withResolvers<void>();
    await using fake = await openFakePostgres((connection) => (connection === 3 ? opening.promise : undefined));
    await using database = open(fake.url, { poolSize: 3 });
    const ping = database.ping();
    await expect.poll(() => fake.connections).toBe(3);
    const query = database.query(anything, []);
    expect(await Promise.race([query.then(() => 'query'), ping.then(() => 'ping')])).toBe('query');
    opening.resolve();
    await ping;
  });
});

describe('a ping', () => {
  it('resolves while all connections are at work and the database responds on them', async () => {
    let held: Promise<void> | undefined;
    await using fake = await openFakePostgres((_, asked) => (asked === 'statement' ? held : undefined));
    await using database = open(fake.url, { poolSize: 2, statementTimeoutMs: 20_000 });
    await database.ping();
    const holding = Promise.withResolvers<void>();
    held = holding.promise;
    const work = [database.query(anything, []), database.query(anything, []), database.query(anything, [])];
    await expect(database.ping()).resolves.toBeUndefined();
    holding.resolve();
    await Promise.all(work);
  });

  it('rejects when all connections are at work and none of them gets a response', async () => {
    let isUnavailable = false;
    const never = new Promise<never>(() => undefined);
    await using fake = await openFakePostgres(() => (isUnavailable ? never : undefined));
    await using database = open(fake.url, { poolSize: 1, connectTimeoutMs: 300, statementTimeoutMs: 300 });
    await database.ping();
    isUnavailable = true;
    const work = [database.query(anything, []), database.query(anything, [])].map((query) =>
      query.catch(() => 'unavailable'),
    );
    await Promise.all(work);
    await expect(database.ping()).rejects.toMatchObject({ name: 'DatabaseUnavailableError' });
  });
});
