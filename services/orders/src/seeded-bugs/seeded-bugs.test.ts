/*
 * Goal: a seeded bug that does not misbehave would make a check look good that finds nothing. Method: each bug beside the
 * real part in the same situation.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database, Statement } from '@shop/kit/database.ts';
import { Deadline } from '@shop/kit/deadline.ts';
import { edges } from '@shop/kit/edges.ts';
import { TransientError } from '@shop/kit/failures.ts';
import type { HttpClient } from '@shop/kit/http-client.ts';
import { openHttpReplicas } from '@shop/kit/http-replica.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { type CallPolicy, createCallPolicy } from '@shop/kit/resilience.ts';
import type { SeededBugName } from '@shop/kit/seeded-bug-names.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OrderGauges, type OrderMetrics, unreadGauges } from '../metrics.ts';
import type { OutboxRow } from '../outbox.ts';
import { createPayments } from '../payments-client.ts';
import type { Publisher } from '../publisher.ts';
import { adoptSagas, confirmOrder } from '../repository.ts';
import { nothingPending, recordingSeconds } from './metrics.ts';
import { pausingAfterDeclined } from './pause-after-402.ts';
import { createSeededBugs } from './seeded-bugs.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const seeded = (...names: SeededBugName[]) => createSeededBugs(new Set(names), { folder: undefined });

/** Payments behind a client and a policy as main.ts puts them together; every charge gets this response. */
function somePayments(status: number, ...names: SeededBugName[]) {
  let sent = 0;
  const client: HttpClient = {
    replicas: openHttpReplicas(['http://127.0.0.1:9']),
    async send() {
      sent += 1;
      return { status, body: undefined };
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
  const { paymentsClient, paymentsPolicy } = seeded(...names);
  const policy = createCallPolicy(
    'orders-payments',
    { ...edges['orders-payments'], breakerFailingMs: 1 },
    logger,
    client.replicas,
  );
  const payments = createPayments(paymentsClient(client), paymentsPolicy(policy));
  const charge = () =>
    payments.charge({ orderId: 'order-1', amountKopiykas: 6_000_000, currency: 'UAH' }, Deadline.after(4_000));
  return { charge, policy, sent: () => sent };
}

describe('declined payments', () => {
  it('are sent once each and leave the breaker closed, without a bug', async () => {
    const { charge, policy, sent } = somePayments(402);
    for (let order = 1; order <= 10; order += 1) expect(await charge()).toBe('declined');
    expect([sent(), policy.state]).toEqual([10, 'closed']);
  });

  it('retry-declined: are sent twice each', async () => {
    const { charge, policy, sent } = somePayments(402, 'retry-declined');
    expect(await charge()).toBe('declined');
    expect([sent(), policy.state]).toEqual([2, 'closed']);
  });

  it('breaker-counts-402: are sent once each and open the breaker, so that the next order is not charged', async () => {
    const { charge, policy, sent } = somePayments(402, 'breaker-counts-402');
    for (let order = 1; order <= 3; order += 1) expect(await charge()).toBe('declined');
    expect([sent(), policy.state]).toEqual([3, 'open']);
    await expect(charge()).rejects.toMatchObject({ reason: 'breaker_open', sent: false });
  });

  it('pause-after-402: nothing is sent to payments after one, and the breaker is closed', async () => {
    const { charge, policy, sent } = somePayments(402, 'pause-after-402');
    expect(await charge()).toBe('declined');
    await expect(charge()).rejects.toMatchObject({ name: 'CallUnavailableError', sent: false });
    expect([sent(), policy.state]).toEqual([1, 'closed']);
  });

  it.each(['retry-declined', 'breaker-counts-402', 'pause-after-402'] as const)(
    '%s: an accepted one is as ever',
    async (name) => {
      const { charge, policy, sent } = somePayments(201, name);
      for (let order = 1; order <= 10; order += 1) expect(await charge()).toBe('accepted');
      expect([sent(), policy.state]).toEqual([10, 'closed']);
    },
  );
});

describe('pause-after-402', () => {
  it('ends after 2 s', async () => {
    let now = 0;
    const policy = {
      execute: async () => ({ status: 402 }),
    } as unknown as CallPolicy;
    const paused = pausingAfterDeclined(policy, () => now);
    const call = () => paused.execute({ idempotent: true }, async () => undefined);
    await call();
    now = 1_999;
    await expect(call()).rejects.toThrow('breaker open');
    now = 2_000;
    expect(await call()).toEqual({ status: 402 });
  });
});

describe('slow-flag', () => {
  it.each([
    ['waits', true, ['slow-flag'], false],
    ['does not wait where the flag is off', false, ['slow-flag'], true],
    ['does not wait without the bug', true, [], true],
  ] as const)('%s', async (_what, isOn, names, isThere) => {
    // The timers of node:timers/promises are not those of a test: the race is what is looked at.
    const own = seeded(...names).flags({ isOn: async () => isOn });
    const response = own.isOn('publish-order-confirmed-v2', 'order-1').then(() => true);
    expect(await Promise.race([response, new Promise((resolve) => setImmediate(() => resolve(false)))])).toBe(isThere);
  });
});

describe('the final statement', () => {
  const values = ['order-1', 3, 'owner', 4, 'event-1', 'order.confirmed', '{"a":1}', null];

  function aDatabase(publish: Publisher['publish'], ...names: SeededBugName[]) {
    const statements: Statement[] = [];
    const database = {
      async query(statement: Statement) {
        statements.push(statement);
        return { rows: [], count: 1 };
      },
    } as unknown as Database;
    const publisher = { ready: true, publish } as unknown as Publisher;
    return { database: seeded(...names).database(database, publisher), statements };
  }

  it('publishes nothing, without a bug', async () => {
    const published: OutboxRow[] = [];
    const { database, statements } = aDatabase(async (row) => void published.push(row));
    await database.query(confirmOrder, values);
    expect([statements, published]).toEqual([[confirmOrder], []]);
  });

  it('publish-in-request: publishes first, and the relay never sees the row', async () => {
    const published: OutboxRow[] = [];
    const { database, statements } = aDatabase(async (row) => void published.push(row), 'publish-in-request');
    await database.query(confirmOrder, values);
    expect(published).toMatchObject([
      { id: 'event-1', orderId: 'order-1', type: 'order.confirmed', payload: '{"a":1}' },
    ]);
    expect(statements[0]?.text).toMatch(/published_at\)\s+SELECT .*clock_timestamp\(\) FROM confirmed/);
  });

  it('publish-in-request: without its broker an order is not confirmed', async () => {
    const { database, statements } = aDatabase(async () => {
      throw new TransientError('the broker is not connected');
    }, 'publish-in-request');
    await expect(database.query(confirmOrder, values)).rejects.toThrow('the broker is not connected');
    expect(statements).toEqual([]);
  });
});

describe('prices', () => {
  const product = { id: 1, priceKopiykas: 45_000, currency: 'UAH' };
  const catalog = { findProduct: async (id: number) => (id === 1 ? product : undefined) };
  const find = (id: number, ...names: SeededBugName[]) =>
    seeded(...names)
      .catalog(catalog)
      .findProduct(id, Deadline.after(1_000));

  it("are the catalog's, without a bug", async () => {
    expect(await find(1)).toEqual(product);
  });

  it('price-in-hryvnias: are a hundredth of it; an unknown product stays unknown', async () => {
    expect(await find(1, 'price-in-hryvnias')).toEqual({ ...product, priceKopiykas: 450 });
    expect(await find(2, 'price-in-hryvnias')).toBeUndefined();
  });
});

describe('metrics', () => {
  it('duration-in-seconds: a thousandth of the time is recorded', () => {
    const recorded: unknown[] = [];
    const real = { sagaDecided: (...values: unknown[]) => void recorded.push(values) } as unknown as OrderMetrics;
    recordingSeconds(real).sagaDecided('Confirmed', null, 150);
    expect(recorded).toEqual([['Confirmed', null, 0.15]]);
  });

  it('gauge-always-zero: nothing waits once it was counted; the other gauges are as they are', () => {
    const gauges: OrderGauges = { ...unreadGauges, compensating: 2, activeSagas: 3 };
    const seen = nothingPending(gauges);
    expect(seen.pendingEvents).toBeUndefined();
    gauges.pendingEvents = 7;
    gauges.activeSagas = 4;
    expect([seen.pendingEvents, seen.compensating, seen.activeSagas]).toEqual([0, 2, 4]);
  });
});

describe('retries', () => {
  it('are as many as the edge allows, without a bug', () => {
    expect(seeded().limits(edges['orders-stock'])).toEqual(edges['orders-stock']);
  });

  it('no-retries: there are none', () => {
    expect(seeded('no-retries').limits(edges['orders-stock'])).toEqual({ ...edges['orders-stock'], attempts: 1 });
  });
});

describe('a saga that is taken over', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shop-seeded-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Each call is a scan of a new process. Resolves with how often it crashed. */
  async function adopt(ids: readonly string[], ...names: SeededBugName[]): Promise<number> {
    let crashes = 0;
    const rows = ids.map((id) => ({ id }));
    const database = { query: async () => ({ rows, count: rows.length }) } as unknown as Database;
    const crash = () => {
      crashes += 1;
    };
    const seeded = createSeededBugs(new Set(names), { folder, crash }).database(database, {} as Publisher);
    expect((await seeded.query(adoptSagas, [])).rows).toEqual(rows);
    return crashes;
  }

  it('continues without a bug', async () => {
    expect(await adopt(['order-1'])).toBe(0);
  });

  it('crash-in-recovery: ends the process that takes it over, once', async () => {
    expect(await adopt([], 'crash-in-recovery')).toBe(0);
    expect(await adopt(['order-1'], 'crash-in-recovery')).toBe(1);
    expect(await adopt(['order-1'], 'crash-in-recovery')).toBe(0);
    expect(await adopt(['order-1', 'order-2'], 'crash-in-recovery')).toBe(1);
  });
});
