import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunClock } from '../../shared/clock.ts';
import type { SampleRecord } from '../journal-records.ts';
import { startSampler } from './sampler.ts';
import { aPoint, createFakeContext, type FakeContext } from './testing/fake-context.ts';

/*
 * Goal: a sample a second has what can be read; a part that cannot be read is a gap with its reason, never a zero, and
 * never ends the run. Counters that rose between two samples are events.
 */

const idle = [
  aPoint('shop.outbox.pending', 0),
  aPoint('shop.compensations.waiting', 0),
  aPoint('shop.sagas.active', 0),
];

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

/** The time of the fake timers. */
const clock: RunClock = {
  now: () => Date.now(),
  date: () => new Date(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      setTimeout(resolve, ms);
      signal.addEventListener('abort', () => reject(signal.reason));
    }),
};

async function samplesOf(fake: FakeContext, count: number) {
  const { context, records } = createFakeContext(fake, clock);
  const sampler = startSampler(context);
  const samples = () => records.filter((record): record is SampleRecord => record.type === 'sample');
  while (samples().length < count) await vi.advanceTimersByTimeAsync(100);
  const drainedSince = sampler.drainedSince();
  const stopped = sampler.stop();
  await vi.advanceTimersByTimeAsync(2_000);
  await stopped;
  return { samples: samples(), records, drainedSince };
}

describe('a sample', () => {
  it('has gauges, services that are ready, and the responses since the last one', async () => {
    const { samples } = await samplesOf(
      {
        points: () => [...idle, aPoint('shop.breaker.state', 1, { attributes: { edge: 'orders-payments' } })],
        orders: [{ invokedAt: 100, tookMs: 200 }, { invokedAt: 300, tookMs: 400 }, { invokedAt: 900 }],
        instances: [
          { name: 'orders-1', service: 'orders', status: 'ready' },
          { name: 'orders-2', service: 'orders', status: 'unready' },
        ],
      },
      1,
    );
    expect(samples[0]?.values).toMatchObject({
      pending: 0,
      waiting: 0,
      activeSagas: 0,
      breakers: { 'orders-payments': 1 },
      inFlight: 1,
      perSecond: 2,
      p50: 200,
      p95: 400,
      ready: { orders: 1 },
    });
    expect(samples[0]).not.toHaveProperty('gap');
  });

  it('takes the highest look at the outbox, and none of a process that has ended', async () => {
    const points = [
      aPoint('shop.outbox.pending', 3),
      aPoint('shop.outbox.pending', 5, { instance: 'orders-2' }),
      aPoint('shop.outbox.pending', 9, { instance: 'orders-3', stale: true }),
    ];
    expect((await samplesOf({ points: () => points }, 1)).samples[0]?.values.pending).toBe(5);
  });

  it.each([
    ['fails', () => new Error('no telemetry'), 'telemetry: no telemetry'],
    ['does not respond', () => undefined, 'telemetry: '],
  ])('has a gap where telemetry %s', async (_, points, gap) => {
    const { samples, drainedSince } = await samplesOf({ points }, 1);
    expect(samples[0]?.gap).toContain(gap);
    expect(samples[0]?.values).not.toHaveProperty('pending');
    expect(drainedSince).toBeUndefined();
  });
});

describe('drained', () => {
  it('is since the first of the samples that show nothing left', async () => {
    let looks = 0;
    const points = () => (++looks === 1 ? [...idle.slice(1), aPoint('shop.outbox.pending', 2)] : idle);
    expect((await samplesOf({ points }, 3)).drainedSince).toBe(2_000);
  });

  it('is never while an order is in flight', async () => {
    expect((await samplesOf({ points: () => idle, orders: [{ invokedAt: 0 }] }, 2)).drainedSince).toBeUndefined();
  });
});

it('journals what rose between two samples, and not what had happened before', async () => {
  let looks = 0;
  const opened = () =>
    aPoint('shop.breaker.transitions', ++looks, { attributes: { edge: 'orders-stock', to: 'open' } });
  const { records } = await samplesOf({ points: () => [opened()] }, 3);
  expect(records.filter(({ type }) => type === 'event').slice(0, 2)).toEqual([
    { type: 'event', event: 'breaker.open', edge: 'orders-stock', count: 1 },
    { type: 'event', event: 'breaker.open', edge: 'orders-stock', count: 1 },
  ]);
});
