import { describe, expect, it } from 'vitest';
import type { MetricPoint } from '../../otlp/metric-store.ts';
import { tally } from './evidence.ts';
import { ATTEMPTS, DURATIONS, evidenceBetween, missingIn, slowLimitS, totalsOf } from './read-evidence.ts';

const base = {
  unit: '',
  description: '',
  scope: 'Shop.Resilience',
  startTime: 1,
  time: 2,
  changedAt: 2,
  receivedAt: 2,
  service: 'gateway',
  instance: 'gateway-1',
  pid: 7,
  stale: false,
};

function attempts(value: number, attributes: MetricPoint['attributes'] = {}, more: object = {}): MetricPoint {
  const all = { service: 'orders', track: 'canary', outcome: 'confirmed', attempt: 'first', share: 5, ...attributes };
  return { ...base, name: ATTEMPTS, type: 'counter', value, attributes: all, ...more };
}

function durations(buckets: readonly number[], track: string): MetricPoint {
  const count = buckets.reduce((a, b) => a + b, 0);
  const attributes = { service: 'orders', track, share: 5 };
  const bounds = [0.01, 0.02, 0.04];
  return { ...base, name: DURATIONS, type: 'histogram', count, sum: 0, min: 0, max: 1, bounds, buckets, attributes };
}

const reading = { service: 'orders', at: 5_000, slowAboveS: undefined };

describe('evidence between two reads', () => {
  it('is what was counted meanwhile, by arm and share', () => {
    const before = [attempts(10), attempts(4, { track: 'stable' })];
    const now = [
      attempts(13),
      attempts(2, { outcome: 'payment_unavailable' }),
      attempts(9, { track: 'stable' }),
      attempts(3, { track: 'baseline', outcome: 'failed' }),
      attempts(6, { share: 25 }),
    ];
    expect(evidenceBetween(before, now, reading)).toEqual([
      { at: 5_000, arm: 'canary', share: 0.05, requests: 5, bad: 2, slow: null },
      { at: 5_000, arm: 'stable', share: 0.05, requests: 8, bad: 3, slow: null },
      { at: 5_000, arm: 'canary', share: 0.25, requests: 6, bad: 0, slow: null },
    ]);
  });

  it('leaves out repeats, requests that name their track, what was not drawn, and other services', () => {
    const others = [
      attempts(9, { attempt: 'repeat' }),
      attempts(9, { attempt: 'override' }),
      attempts(9, { service: 'payments' }),
      attempts(9, { share: undefined as unknown as number }),
    ];
    expect(evidenceBetween([], others, reading)).toEqual([]);
  });

  it('counts a process that began meanwhile from its beginning', () => {
    const restarted = attempts(3, {}, { startTime: 9, pid: 8 });
    expect(evidenceBetween([attempts(50)], [attempts(50), restarted], reading)).toMatchObject([{ requests: 3 }]);
  });

  it('takes an outcome that it does not know for bad', () => {
    expect(evidenceBetween([], [attempts(1, { outcome: 'exploded' })], reading)).toMatchObject([{ bad: 1 }]);
  });

  it('has what was slower than the limit, once there is one', () => {
    const before = [durations([5, 5, 1, 0], 'canary')];
    const now = [attempts(20), durations([5, 15, 3, 2], 'canary'), durations([40, 0, 0, 1], 'stable')];
    const lines = evidenceBetween(before, [...now, attempts(41, { track: 'stable' })], {
      ...reading,
      slowAboveS: 0.02,
    });
    expect(lines).toMatchObject([
      { arm: 'canary', requests: 20, slow: 4 },
      { arm: 'stable', requests: 41, slow: 1 },
    ]);
    expect(tally(lines).shares[0]?.canary).toEqual({ requests: 20, bad: 0, slow: 4, timed: 20 });
  });
});

describe('the limit between fast and slow', () => {
  it('is the percentile of stable', () => {
    const points = [durations([0, 95, 3, 2], 'stable'), durations([0, 0, 0, 99], 'canary')];
    expect(slowLimitS(points, { service: 'orders', above: 0.95 })).toBe(0.02);
    expect(slowLimitS(points, { service: 'orders', above: 0.97 })).toBe(0.04);
  });

  it('is unknown before enough responses', () => {
    expect(slowLimitS([durations([19, 0, 0, 0], 'stable')], { service: 'orders', above: 0.95 })).toBeUndefined();
  });
});

it('the level of a service is of all its first attempts, drawn or not', () => {
  const points = [
    attempts(90, { share: undefined as unknown as number, track: 'stable' }),
    attempts(10, { outcome: 'timeout' }),
    attempts(9, { attempt: 'repeat', outcome: 'timeout' }),
  ];
  expect(totalsOf(points, 'orders')).toEqual({ requests: 100, bad: 10 });
});

it('evidence is missing from callers that are silent, and where series were dropped', () => {
  const points = [
    attempts(1),
    attempts(1, {}, { instance: 'gateway-2', stale: true }),
    attempts(1, { 'otel.metric.overflow': true }, { instance: 'gateway-3' }),
  ];
  expect(missingIn(points, ['gateway-1', 'gateway-2', 'gateway-3'])).toEqual([
    'gateway-2 reports nothing',
    'gateway-3 has more series than it keeps',
  ]);
});
