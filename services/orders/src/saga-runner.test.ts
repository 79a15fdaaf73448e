import type { Database } from '@shop/kit/database.ts';
import { Deadline } from '@shop/kit/deadline.ts';
import { DatabaseUnavailableError } from '@shop/kit/failures.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { CallUnavailableError } from '@shop/kit/resilience.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type OrderMetrics, unreadGauges } from './metrics.ts';
import type { RunningState, Saga } from './saga/saga.ts';
import { createSagaRunner } from './saga-runner.ts';

/*
 * Goal: a call that surely was not sent leaves nothing to compensate; one that an earlier run may have sent does,
 * whatever this run knows of its call.
 */

function sagaAt(state: RunningState): Saga {
  const none = { reason: null, pending: [], attempts: 0, lastError: null };
  return { orderId: 'order-1', lines: [], totalKopiykas: 1, currency: 'UAH', state, version: 1, ...none };
}

/** Runs a saga with a stock and a payments that respond so. Resolves with the calls they received. */
async function runWith(
  saga: Saga,
  { resumed, reserve = 'reserved', charge }: { resumed: boolean; reserve?: 'reserved' | Error; charge: Error },
) {
  const calls: string[] = [];
  const respond = async (call: string, result: unknown) => {
    calls.push(call);
    if (result instanceof Error) throw result;
    return result as never;
  };
  const sagaRunner = createSagaRunner({
    database: { query: async () => ({ rows: [], count: 1 }) } as unknown as Database,
    owner: 'me',
    stock: {
      reserve: () => respond('reserve', reserve),
      release: () => respond('release', undefined),
    },
    payments: { charge: () => respond('charge', charge), refund: () => respond('refund', undefined) },
    metrics: {} as OrderMetrics,
    gauges: { ...unreadGauges, activeSagas: 0 },
    logger: { info: () => undefined, warn: () => undefined } as unknown as Logger,
    failpoint: async () => undefined,
    flags: { isOn: async () => false },
    stopping: new AbortController().signal,
  });
  const decisions: (string | null)[] = [];
  const { kind } = await sagaRunner.run(saga, {
    deadline: Deadline.after(9_000),
    resumed,
    decided: ({ reason }) => void decisions.push(reason),
  });
  return { calls, decisions, kind };
}

const neverSent = new CallUnavailableError('orders-payments', 'breaker_open', false);
const perhapsSent = new CallUnavailableError('orders-payments', 'breaker_open', true);

describe('a charge without a response', () => {
  it('that was never sent is not refunded', async () => {
    expect(await runWith(sagaAt('Started'), { resumed: false, charge: neverSent })).toEqual({
      calls: ['reserve', 'charge', 'release'],
      decisions: ['payment unavailable'],
      kind: 'ended',
    });
  });

  it('that may have been sent is refunded', async () => {
    const { calls } = await runWith(sagaAt('Started'), { resumed: false, charge: perhapsSent });
    expect(calls).toEqual(['reserve', 'charge', 'refund', 'release']);
  });

  it('is refunded when an earlier run may have sent it', async () => {
    const { calls } = await runWith(sagaAt('StockReserved'), { resumed: true, charge: neverSent });
    expect(calls).toEqual(['charge', 'refund', 'release']);
  });

  it('is not refunded when the earlier run had not come to it', async () => {
    const { calls } = await runWith(sagaAt('Started'), { resumed: true, charge: neverSent });
    expect(calls).toEqual(['reserve', 'charge', 'release']);
  });
});

it('a reservation that was never sent ends the order immediately', async () => {
  const reserve = new CallUnavailableError('orders-stock', 'bulkhead_full', false);
  expect(await runWith(sagaAt('Started'), { resumed: false, reserve, charge: neverSent })).toEqual({
    calls: ['reserve'],
    decisions: ['stock unavailable'],
    kind: 'ended',
  });
});

describe('a save whose response is lost during an outage of the database past the deadline of the order', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Runs a saga whose saves are committed unless `takes` is false, without a response until the database is back. */
  function aRun(saga: Saga, { takes = true, reserve = 'reserved' as 'reserved' | 'insufficient' } = {}) {
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
    const sagaRunner = createSagaRunner({
      database: {
        async query(_statement: unknown, values: readonly unknown[]) {
          const isDown = Date.now() < back;
          if (values.length === 1 && !isDown) return { rows: [row], count: 1 };
          const count = isDown && !takes ? 0 : commit(values);
          if (isDown) throw new DatabaseUnavailableError('no response in 2000 ms', { sent: true });
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
      gauges: { ...unreadGauges, activeSagas: 0 },
      logger: { info: () => undefined, warn: () => undefined } as unknown as Logger,
      failpoint: async () => undefined,
      flags: { isOn: async () => false },
      stopping: stopping.signal,
    });
    const decisions: string[] = [];
    const ended = sagaRunner
      .run(saga, {
        deadline: Deadline.after(9_000),
        resumed: false,
        decided: ({ state }) => void decisions.push(state),
      })
      .then(
        ({ kind }) => kind,
        () => 'left to recovery',
      );
    return { sagaRunner, decisions, ended, stopping, row };
  }

  it.each([
    ['Confirmed', 'committed', sagaAt('PaymentCharged'), {}],
    ['Confirmed', 'not committed', sagaAt('PaymentCharged'), { takes: false }],
    ['Cancelled', 'committed', sagaAt('Started'), { reserve: 'insufficient' }],
    ['Cancelled', 'not committed', sagaAt('Started'), { reserve: 'insufficient', takes: false }],
  ] as const)(
    'and decides it (%s, %s): the decision is reported once, when the database is back',
    async (state, _, saga, how) => {
      const { decisions, ended, sagaRunner } = aRun(saga, how);
      await vi.advanceTimersByTimeAsync(30_000);
      expect([decisions, sagaRunner.activeIds()]).toEqual([[], ['order-1']]);
      await vi.advanceTimersByTimeAsync(60_000);
      expect([decisions, await ended]).toEqual([[state], 'ended']);
    },
  );

  it('and does not decide it is left to recovery', async () => {
    const { ended, decisions } = aRun(sagaAt('Started'));
    await vi.advanceTimersByTimeAsync(15_000);
    expect([await ended, decisions]).toEqual(['left to recovery', []]);
  });

  it('and decides it does not hold up a shutdown', async () => {
    const { ended, stopping } = aRun(sagaAt('PaymentCharged'));
    await vi.advanceTimersByTimeAsync(30_000);
    stopping.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(await ended).toBe('left to recovery');
  });
});

it('a flag is evaluated by the id of the order that is confirmed, once, and before its events are written', async () => {
  const asked: unknown[] = [];
  const written: unknown[] = [];
  const sagaRunner = createSagaRunner({
    database: {
      async query(_statement: unknown, values: readonly unknown[]) {
        written.push(...values.filter((value) => JSON.stringify(value)?.includes('order.confirmed')));
        return { rows: [], count: 1 };
      },
    } as unknown as Database,
    owner: 'me',
    stock: { reserve: async () => 'reserved', release: async () => undefined },
    payments: { charge: async () => 'accepted', refund: async () => undefined },
    metrics: {} as OrderMetrics,
    gauges: { ...unreadGauges, activeSagas: 0 },
    logger: { info: () => undefined, warn: () => undefined } as unknown as Logger,
    failpoint: async () => undefined,
    flags: {
      isOn: async (...of) => {
        asked.push(of);
        return true;
      },
    },
    stopping: new AbortController().signal,
  });
  await sagaRunner.run(sagaAt('PaymentCharged'), {
    deadline: Deadline.after(9_000),
    resumed: false,
    decided: () => {},
  });
  expect(asked).toEqual([['publish-order-confirmed-v2', 'order-1']]);
  expect(JSON.stringify(written)).toContain('order.confirmed.v2');
});
