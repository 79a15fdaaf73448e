import type { Database } from '@shop/kit/database.ts';
import { Deadline } from '@shop/kit/deadline.ts';
import { DatabaseUnavailableError } from '@shop/kit/failures.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { CallUnavailableError } from '@shop/kit/resilience.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDriver } from './driver.ts';
import type { OrderMetrics } from './metrics.ts';
import type { RunningState, Saga } from './saga/saga.ts';

/*
 * Goal: a call that surely was not sent leaves nothing to take back; one that an earlier drive may have sent does,
 * whatever this drive knows of its own call.
 */

function sagaAt(state: RunningState): Saga {
  const none = { reason: null, pending: [], attempts: 0, lastError: null };
  return { orderId: 'order-1', lines: [], totalKopiykas: 1, currency: 'UAH', state, version: 1, ...none };
}

/** Drives a saga with a stock and a payments that answer so. Resolves with what was asked of them. */
async function driveWith(
  saga: Saga,
  { resumed, reserve = 'reserved', charge }: { resumed: boolean; reserve?: 'reserved' | Error; charge: Error },
) {
  const asked: string[] = [];
  const answer = async (call: string, result: unknown) => {
    asked.push(call);
    if (result instanceof Error) throw result;
    return result as never;
  };
  const driver = createDriver({
    database: { query: async () => ({ rows: [], count: 1 }) } as unknown as Database,
    owner: 'me',
    stock: {
      reserve: () => answer('reserve', reserve),
      release: () => answer('release', undefined),
    },
    payments: { charge: () => answer('charge', charge), refund: () => answer('refund', undefined) },
    metrics: {} as OrderMetrics,
    gauges: { pendingEvents: undefined, compensating: undefined, driven: 0 },
    logger: { info: () => undefined, warn: () => undefined } as unknown as Logger,
    failpoint: async () => undefined,
    flags: { isOn: () => false },
    stopping: new AbortController().signal,
  });
  const told: (string | null)[] = [];
  const { kind } = await driver.drive(saga, {
    deadline: Deadline.after(9_000),
    resumed,
    decided: ({ reason }) => void told.push(reason),
  });
  return { asked, told, kind };
}

const neverSent = new CallUnavailableError('orders-payments', 'breaker_open', false);
const perhapsSent = new CallUnavailableError('orders-payments', 'breaker_open', true);

describe('a charge without an answer', () => {
  it('that was never sent is not refunded', async () => {
    expect(await driveWith(sagaAt('Started'), { resumed: false, charge: neverSent })).toEqual({
      asked: ['reserve', 'charge', 'release'],
      told: ['payment unavailable'],
      kind: 'ended',
    });
  });

  it('that may have been sent is refunded', async () => {
    const { asked } = await driveWith(sagaAt('Started'), { resumed: false, charge: perhapsSent });
    expect(asked).toEqual(['reserve', 'charge', 'refund', 'release']);
  });

  it('is refunded when an earlier drive may have sent it', async () => {
    const { asked } = await driveWith(sagaAt('StockReserved'), { resumed: true, charge: neverSent });
    expect(asked).toEqual(['charge', 'refund', 'release']);
  });

  it('is not refunded when the earlier drive had not come to it', async () => {
    const { asked } = await driveWith(sagaAt('Started'), { resumed: true, charge: neverSent });
    expect(asked).toEqual(['reserve', 'charge', 'release']);
  });
});

it('a reservation that was never sent ends the order at once', async () => {
  const reserve = new CallUnavailableError('orders-stock', 'bulkhead_full', false);
  expect(await driveWith(sagaAt('Started'), { resumed: false, reserve, charge: neverSent })).toEqual({
    asked: ['reserve'],
    told: ['stock unavailable'],
    kind: 'ended',
  });
});

describe('a save whose answer is lost while the database goes away past the deadline of the order', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Drives a saga whose saves are committed until `takes` is false, and never answered before the database is back. */
  function aDrive(saga: Saga, { takes = true, reserve = 'reserved' as 'reserved' | 'insufficient' } = {}) {
    const row = { version: saga.version, owner: 'me', state: saga.state as string };
    const commit = (values: readonly unknown[]) => {
      // A save names the version it read second, and confirming the new version fourth.
      const confirms = values.length === 8;
      if (values[1] !== row.version) return 0;
      Object.assign(row, { version: confirms ? values[3] : values[4], state: confirms ? 'Confirmed' : values[3] });
      return 1;
    };
    const back = Date.now() + 60_000;
    const stopping = new AbortController();
    const driver = createDriver({
      database: {
        async query(_statement: unknown, values: readonly unknown[]) {
          const isAway = Date.now() < back;
          if (values.length === 1 && !isAway) return { rows: [row], count: 1 };
          const count = isAway && !takes ? 0 : commit(values);
          if (isAway) throw new DatabaseUnavailableError('no answer in 2000 ms', { sent: true });
          return { rows: [], count };
        },
      } as unknown as Database,
      owner: 'me',
      stock: {
        reserve: async () => reserve,
        release: async () => undefined,
      },
      payments: { charge: async () => 'accepted', refund: async () => undefined },
      metrics: {} as OrderMetrics,
      gauges: { pendingEvents: undefined, compensating: undefined, driven: 0 },
      logger: { info: () => undefined, warn: () => undefined } as unknown as Logger,
      failpoint: async () => undefined,
      flags: { isOn: () => false },
      stopping: stopping.signal,
    });
    const told: string[] = [];
    const ended = driver
      .drive(saga, { deadline: Deadline.after(9_000), resumed: false, decided: ({ state }) => void told.push(state) })
      .then(
        ({ kind }) => kind,
        () => 'left to recovery',
      );
    return { driver, told, ended, stopping, row };
  }

  it.each([
    ['Confirmed', 'committed', sagaAt('PaymentCharged'), {}],
    ['Confirmed', 'not committed', sagaAt('PaymentCharged'), { takes: false }],
    ['Cancelled', 'committed', sagaAt('Started'), { reserve: 'insufficient' }],
    ['Cancelled', 'not committed', sagaAt('Started'), { reserve: 'insufficient', takes: false }],
  ] as const)(
    'and decides it (%s, %s): the decision is told once, when the database is back',
    async (state, _, saga, how) => {
      const { told, ended, driver } = aDrive(saga, how);
      await vi.advanceTimersByTimeAsync(30_000);
      expect([told, driver.drivenIds()]).toEqual([[], ['order-1']]);
      await vi.advanceTimersByTimeAsync(60_000);
      expect([told, await ended]).toEqual([[state], 'ended']);
    },
  );

  it('and does not decide it is left to recovery', async () => {
    const { ended, told } = aDrive(sagaAt('Started'));
    await vi.advanceTimersByTimeAsync(15_000);
    expect([await ended, told]).toEqual(['left to recovery', []]);
  });

  it('and decides it does not hold up a shutdown', async () => {
    const { ended, stopping } = aDrive(sagaAt('PaymentCharged'));
    await vi.advanceTimersByTimeAsync(30_000);
    stopping.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(await ended).toBe('left to recovery');
  });
});
