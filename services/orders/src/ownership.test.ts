import { type Database, openDatabase, type Statement, sql } from '@shop/kit/database.ts';
import { DatabaseUnavailableError } from '@shop/kit/failures.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { seeTelemetry } from '@shop/kit/spans/testing.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openFakePostgres } from '../../../test/support/fake-postgres.ts';
import { createOwnership, openOwnership } from './ownership.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const telemetry = seeTelemetry();

/** A database with outages; `statements` are the statements that reached it. */
function aDatabase() {
  const statements: string[] = [];
  const state = { isDown: false };
  const query = async (statement: Statement) => {
    if (state.isDown) throw new DatabaseUnavailableError('connect ECONNREFUSED');
    statements.push(statement.name);
    return { rows: [], count: 1 };
  };
  return { statements, state, database: { query } as unknown as Database };
}

const renewals = (statements: readonly string[]) =>
  statements.filter((name) => name === 'INSERT saga_owners: renew').length;

describe('the lease of an instance', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is taken at the start and renewed every second', async () => {
    const { statements, database } = aDatabase();
    await using _ = createOwnership({ database, instance: 'orders-1', logger });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(renewals(statements)).toBe(4);
  });

  it('is not renewed by an order while it holds', async () => {
    const { statements, database } = aDatabase();
    await using ownership = createOwnership({ database, instance: 'orders-1', logger });
    await ownership.ensure();
    await ownership.ensure();
    expect(renewals(statements)).toBe(1);
  });

  it('is taken again before an order when it has run out', async () => {
    const { statements, state, database } = aDatabase();
    await using ownership = createOwnership({ database, instance: 'orders-1', logger });
    await ownership.ensure();
    state.isDown = true;
    await vi.advanceTimersByTimeAsync(6_500);
    await expect(ownership.ensure()).rejects.toThrow(DatabaseUnavailableError);
    state.isDown = false;
    await ownership.ensure();
    expect(renewals(statements)).toBe(2);
  });

  it('holds although those of instances that ended long ago cannot be deleted', async () => {
    const query = async ({ name }: Statement) => {
      if (name === 'DELETE saga_owners: old') throw new DatabaseUnavailableError('canceling statement');
      return { rows: [], count: 1 };
    };
    const database = { query } as unknown as Database;
    await using ownership = createOwnership({ database, instance: 'orders-1', logger });
    await expect(ownership.ensure()).resolves.toBeUndefined();
  });

  it('ends with the instance', async () => {
    const { statements, database } = aDatabase();
    const ownership = createOwnership({ database, instance: 'orders-1', logger });
    await ownership[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(statements.at(-1)).toBe('DELETE saga_owners: end');
    expect(renewals(statements)).toBe(1);
  });

  it('is left to run out during an outage of the database', async () => {
    const { state, database } = aDatabase();
    const ownership = createOwnership({ database, instance: 'orders-1', logger });
    await ownership.ensure();
    state.isDown = true;
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
    state.isDown = true;
    await vi.advanceTimersByTimeAsync(4_500);
    expect(ownership.mayAdopt()).toBe(false);
    state.isDown = false;
    await vi.advanceTimersByTimeAsync(3_000);
    expect(ownership.mayAdopt()).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ownership.mayAdopt()).toBe(true);
  });
});

it('the pool of the lease has a separate name in metrics', async () => {
  await using fake = await openFakePostgres(() => undefined);
  await using database = openDatabase({ url: fake.url, poolSize: 2, applicationName: 'orders-1', logger });
  await using ownership = openOwnership({ url: fake.url, instance: 'orders-1', logger });
  await Promise.all([database.ping(), ownership.ensure()]);
  const { host, pathname } = new URL(fake.url);
  const names = (await telemetry.values('db.client.connection.pending_requests')).map(
    ({ attributes }) => attributes['db.client.connection.pool.name'],
  );
  expect(names.toSorted()).toEqual([`${host}${pathname}`, `${host}${pathname} lease`]);
});

it('the lease is renewed on a separate connection, which a pool that is in use to the last one does not take', async () => {
  const never = new Promise<never>(() => undefined);
  await using fake = await openFakePostgres((connection, phase) =>
    connection === 1 && phase === 'statement' ? never : undefined,
  );
  await using database = openDatabase({ url: fake.url, poolSize: 1, applicationName: 'orders-1', logger });
  const busy = database.query(sql('SELECT: slow', 'SELECT'), []).catch(() => undefined);
  await expect.poll(() => fake.connections).toBe(1);
  await using ownership = openOwnership({ url: fake.url, instance: 'orders-1', logger });
  await ownership.ensure();
  expect(fake.connections).toBe(2);
  await busy;
});
