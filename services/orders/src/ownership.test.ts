import { type Database, openDatabase, type Statement, sql } from '@shop/kit/database.ts';
import { DatabaseUnavailableError } from '@shop/kit/failures.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openFakePostgres } from '../../../test/support/fake-postgres.ts';
import { createOwnership, openOwnership } from './ownership.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });

/** A database that can be away; `asked` are the statements that reached it. */
function aDatabase() {
  const asked: string[] = [];
  const state = { away: false };
  const query = async (statement: Statement) => {
    if (state.away) throw new DatabaseUnavailableError('connect ECONNREFUSED');
    asked.push(statement.name);
    return { rows: [], count: 1 };
  };
  return { asked, state, database: { query } as unknown as Database };
}

const renewals = (asked: readonly string[]) => asked.filter((name) => name === 'INSERT saga_owners: renew').length;

describe('the lease of an instance', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is taken at the start and renewed every second', async () => {
    const { asked, database } = aDatabase();
    await using _ = createOwnership({ database, instance: 'orders-1', logger });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(renewals(asked)).toBe(4);
  });

  it('is not asked for again by an order while it holds', async () => {
    const { asked, database } = aDatabase();
    await using ownership = createOwnership({ database, instance: 'orders-1', logger });
    await ownership.ensure();
    await ownership.ensure();
    expect(renewals(asked)).toBe(1);
  });

  it('is taken again before an order when it has run out', async () => {
    const { asked, state, database } = aDatabase();
    await using ownership = createOwnership({ database, instance: 'orders-1', logger });
    await ownership.ensure();
    state.away = true;
    await vi.advanceTimersByTimeAsync(6_500);
    await expect(ownership.ensure()).rejects.toThrow(DatabaseUnavailableError);
    state.away = false;
    await ownership.ensure();
    expect(renewals(asked)).toBe(2);
  });

  it('ends with the instance', async () => {
    const { asked, database } = aDatabase();
    const ownership = createOwnership({ database, instance: 'orders-1', logger });
    await ownership[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked.at(-1)).toBe('DELETE saga_owners: end');
    expect(renewals(asked)).toBe(1);
  });

  it('is left to run out when the database is away', async () => {
    const { state, database } = aDatabase();
    const ownership = createOwnership({ database, instance: 'orders-1', logger });
    await ownership.ensure();
    state.away = true;
    await expect(ownership[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });
});

describe('the sagas of others', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('may be adopted once the own lease has been renewed for 3 s without a gap', async () => {
    const { database } = aDatabase();
    await using ownership = createOwnership({ database, instance: 'orders-1', logger });
    await vi.advanceTimersByTimeAsync(2_500);
    expect(ownership.mayAdopt()).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ownership.mayAdopt()).toBe(true);
  });

  it('may not be adopted while the own lease is not renewed, nor in the first 3 s after that', async () => {
    const { state, database } = aDatabase();
    await using ownership = createOwnership({ database, instance: 'orders-1', logger });
    await vi.advanceTimersByTimeAsync(5_000);
    state.away = true;
    await vi.advanceTimersByTimeAsync(4_500);
    expect(ownership.mayAdopt()).toBe(false);
    state.away = false;
    await vi.advanceTimersByTimeAsync(3_000);
    expect(ownership.mayAdopt()).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ownership.mayAdopt()).toBe(true);
  });
});

it('the lease is renewed on a connection of its own, which a pool that is in use to the last one does not take', async () => {
  const never = new Promise<never>(() => undefined);
  await using fake = await openFakePostgres((connection, asked) =>
    connection === 1 && asked === 'statement' ? never : undefined,
  );
  await using database = openDatabase({ url: fake.url, poolSize: 1, applicationName: 'orders-1', logger });
  const busy = database.query(sql('SELECT: slow', 'SELECT'), []).catch(() => undefined);
  await expect.poll(() => fake.connections).toBe(1);
  await using ownership = openOwnership({ url: fake.url, instance: 'orders-1', logger });
  await ownership.ensure();
  expect(fake.connections).toBe(2);
  await busy;
});
