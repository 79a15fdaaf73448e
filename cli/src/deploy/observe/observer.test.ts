import { expect, it } from 'vitest';
import type { MetricPoint } from '../../otlp/metric-store.ts';
import type { InstanceState } from '../../platform/state.ts';
import { theDefaultPlan } from '../analysis/testing/plan.ts';
import { createObserver } from './observer.ts';
import { reads } from './seen.ts';

const base = {
  scope: '',
  unit: '',
  description: '',
  startTime: 1,
  time: 2,
  changedAt: 2,
  receivedAt: 2,
  pid: 7,
  stale: false,
};

const attempts = (value: number, attributes: object = {}): MetricPoint =>
  ({
    ...base,
    name: 'shop.upstream.attempts',
    type: 'counter',
    service: 'gateway',
    instance: 'gateway-1',
    value,
    attributes: { service: 'orders', track: 'stable', outcome: 'confirmed', attempt: 'first', ...attributes },
  }) as MetricPoint;

const canary = { track: 'canary', share: 5 };
const arms = { canary: ['orders-3'], stable: ['orders-1'], baseline: [] };

/** An observer of a platform whose metrics a test changes. */
function anObserver() {
  const platform: { points: readonly MetricPoint[] | Error } = { points: [] };
  const instances = ['gateway-1', 'orders-1', 'orders-3'].map(
    (name) => ({ name, service: name.split('-')[0], status: 'ready', crashes: 0 }) as InstanceState,
  );
  const observer = createObserver(theDefaultPlan, {
    instances: () => instances,
    async metrics() {
      if (platform.points instanceof Error) throw platform.points;
      return platform.points;
    },
    usage: async () => undefined,
    audit: async () => ({ at: 0, orders: 0, violations: [], unknown: new Map(), unfinishedSince: undefined }),
    traces: () => ({
      read: (_canary, at) => reads('trace-shape', at)('held', 'as the contract'),
      stop: () => undefined,
    }),
    now: () => 0,
  });
  return { platform, observer };
}

it('has what was counted from the beginning of the rollout on, look by look', async () => {
  const { platform, observer } = anObserver();
  platform.points = [attempts(50, canary)];
  await observer.begin();
  await observer.start(arms);
  platform.points = [attempts(53, canary)];
  expect((await observer.look(1_000)).evidence).toMatchObject([{ arm: 'canary', share: 0.05, requests: 3 }]);
  platform.points = [attempts(54, canary)];
  expect((await observer.look(2_000)).evidence).toMatchObject([{ arm: 'canary', share: 0.05, requests: 1 }]);
});

it('compares total errors with those between the command and the first step', async () => {
  const { platform, observer } = anObserver();
  platform.points = [attempts(100)];
  await observer.begin();
  platform.points = [attempts(200)];
  await observer.start(arms);
  const total = async (at: number) =>
    (await observer.look(at)).guards.find(({ guard }) => guard === 'total-errors')?.state;
  platform.points = [attempts(260), attempts(1, canary)];
  expect(await total(1_000)).toBe('held');
  platform.points = [attempts(260), attempts(1, canary), attempts(90, { share: 5, outcome: 'timeout' })];
  expect(await total(2_000)).toBe('tripped');
});

it('does not know the total errors of before where there were no requests', async () => {
  const { observer } = anObserver();
  await observer.begin();
  await observer.start(arms);
  const { guards } = await observer.look(1_000);
  expect(guards.find(({ guard }) => guard === 'total-errors')?.state).toBe('unknown');
});

it('counts no request as slow while a replica of the canary is young, be it the first one or one that joins', async () => {
  const { platform, observer } = anObserver();
  const histogram = (name: string, instance: string, count: number, attributes: object): MetricPoint =>
    ({
      ...base,
      name,
      type: 'histogram',
      service: '',
      instance,
      attributes,
      count,
      bounds: [0.1],
      buckets: [count, 0],
    }) as unknown as MetricPoint;
  const timed = (count: number) =>
    histogram('shop.upstream.attempt.duration', 'gateway-1', count, { service: 'orders', track: 'stable', share: 5 });
  const served = (instance: string, count: number) => histogram('http.server.request.duration', instance, count, {});
  const slowAt = async (at: number, ...points: readonly MetricPoint[]) => {
    platform.points = [attempts(60 + at / 1_000, canary), timed(100 + at / 1_000), ...points];
    return (await observer.look(at)).evidence.find(({ arm }) => arm === 'canary')?.slow;
  };
  await observer.begin();
  await observer.start(arms);
  expect(await slowAt(1_000, served('orders-3', 49))).toBeNull();
  expect(await slowAt(2_000, served('orders-3', 50))).toBe(0);
  observer.arms({ ...arms, canary: ['orders-3', 'orders-5'] });
  expect(await slowAt(3_000, served('orders-3', 80))).toBeNull();
  expect(await slowAt(4_000, served('orders-3', 90), served('orders-5', 49))).toBeNull();
  expect(await slowAt(5_000, served('orders-3', 99), served('orders-5', 50))).toBe(0);
});

it('says what is missing where metrics cannot be read, and counts what came meanwhile afterwards', async () => {
  const { platform, observer } = anObserver();
  await observer.begin();
  await observer.start(arms);
  platform.points = new Error('telemetry is off');
  expect(await observer.look(1_000)).toMatchObject({
    evidence: [],
    missing: ['the metrics cannot be read: telemetry is off'],
  });
  platform.points = [attempts(7, canary)];
  expect(await observer.look(2_000)).toMatchObject({ evidence: [{ requests: 7 }], missing: [] });
});

it('says which callers report nothing', async () => {
  const { observer } = anObserver();
  await observer.start(arms);
  expect((await observer.look(1_000)).missing).toEqual(['gateway-1 reports nothing']);
});

it('reads the guards of the plan, and no other', async () => {
  const { observer } = anObserver();
  await observer.start(arms);
  const { guards } = await observer.look(1_000);
  expect(guards.map(({ guard }) => guard).toSorted()).toEqual([...theDefaultPlan.guards].toSorted());
});
