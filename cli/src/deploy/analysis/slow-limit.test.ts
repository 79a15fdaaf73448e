import { describe, expect, it } from 'vitest';
import type { MetricPoint } from '../../otlp/metric-store.ts';
import { DURATIONS } from './read-evidence.ts';
import { followSlowLimit } from './slow-limit.ts';

const bounds = [0.01, 0.02, 0.04];

/** What one process has timed since its start: responses up to 10, 20, 40 ms and longer. */
function timed(buckets: readonly number[], track = 'stable'): MetricPoint {
  const attributes = { service: 'orders', track, share: 5 };
  return {
    name: DURATIONS,
    type: 'histogram',
    instance: 'gateway-1',
    startTime: 1,
    stale: false,
    attributes,
    bounds,
    buckets,
    count: buckets.reduce((a, b) => a + b, 0),
  } as unknown as MetricPoint;
}

const limitOf = () => followSlowLimit({ service: 'orders', above: 0.95 });

describe('the limit between fast and slow during a rollout', () => {
  it('is unknown until enough responses of the stable arm have been timed since its start', () => {
    const limit = limitOf();
    limit.add([timed([500, 0, 0, 0])]);
    limit.add([timed([519, 0, 0, 0]), timed([0, 0, 99, 0], 'canary')]);
    expect(limit.current()).toBeUndefined();
    limit.add([timed([519, 1, 0, 0])]);
    expect(limit.current()).toBe(0.01);
  });

  it('is that of the latest responses: a machine that was busy at the start does not hide a slow release', () => {
    const limit = limitOf();
    limit.add([]);
    limit.add([timed([0, 0, 100, 0])]);
    expect(limit.current()).toBe(0.04);
    limit.add([timed([199, 0, 100, 0])]);
    expect(limit.current()).toBe(0.04);
    limit.add([timed([200, 0, 100, 0])]);
    expect(limit.current()).toBe(0.01);
    limit.add([timed([200, 200, 100, 0])]);
    expect(limit.current()).toBe(0.02);
  });

  it('stays where nothing more is timed', () => {
    const limit = limitOf();
    limit.add([]);
    limit.add([timed([0, 50, 0, 0])]);
    limit.add([timed([0, 50, 0, 0])]);
    expect(limit.current()).toBe(0.02);
  });
});
