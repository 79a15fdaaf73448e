import { metrics } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type EdgeLimits, edges } from './edges.ts';
import { ConnectionLostError, NotSentError, TransientError } from './failures.ts';
import { createLogger } from './logger.ts';
import type { Placed, Replica } from './replica-picker.ts';
import { fixedReplicas } from './replicas.ts';
import { type CallOptions, createCallPolicy } from './resilience.ts';
import { upstreamAt } from './upstreams.ts';

class Reader extends MetricReader {
  protected async onShutdown() {}
  protected async onForceFlush() {}
}

let reader: Reader;
const opened: Disposable[] = [];
beforeEach(() => {
  reader = new Reader();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
});
afterEach(() => {
  for (const policy of opened.splice(0)) policy[Symbol.dispose]();
  metrics.disable();
});

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const limits: EdgeLimits = { ...edges['orders-payments'], backoffBaseMs: 0, backoffMaxMs: 0 };
const replicaAt = (address: string): Replica => ({ address, check: async () => undefined });

function aPolicy(...places: readonly Partial<Placed<Replica>>[]) {
  const all = places.map((place, index) => {
    const replica = replicaAt(`127.0.0.1:${4_000 + index}`);
    return { ...upstreamAt(replica.address), replica, ...place };
  });
  const policy = createCallPolicy('orders-payments', limits, logger, {
    ...fixedReplicas(all.map(({ replica }) => replica)),
    all,
  });
  opened.push(policy);
  return policy;
}

/** Counted attempts: the values of these tags, and how many. */
async function counted(...tags: readonly string[]): Promise<Record<string, number>> {
  const { resourceMetrics } = await reader.collect();
  const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  const points = all.find(({ descriptor }) => descriptor.name === 'shop.upstream.attempts')?.dataPoints ?? [];
  const sums: Record<string, number> = {};
  for (const { attributes, value } of points) {
    const title = tags.map((tag) => attributes[tag]).join(' ');
    sums[title] = (sums[title] ?? 0) + Number(value);
  }
  return sums;
}

async function timed(): Promise<number> {
  const { resourceMetrics } = await reader.collect();
  const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  const points = all.find(({ descriptor }) => descriptor.name === 'shop.upstream.attempt.duration')?.dataPoints ?? [];
  return points.reduce((sum, { value }) => sum + (value as { count: number }).count, 0);
}

const call: CallOptions = { idempotent: true };
const stable = { version: '0.3.0', weight: 95 };
const canary = { version: '0.4.0', track: 'canary', weight: 5 } as const;
const failing = (error: Error) => async () => {
  throw error;
};
const ignored = () => undefined;

it('an attempt is counted by what it reached and what its response means', async () => {
  const policy = aPolicy(stable);
  await policy.execute({ ...call, outcomeOf: () => 'declined' }, async () => ({}));
  await policy.execute(call, async () => ({}));
  expect(await counted('service', 'version', 'track', 'outcome', 'attempt', 'share')).toEqual({
    'payments 0.3.0 stable declined first ': 1,
    'payments 0.3.0 stable ok first ': 1,
  });
  expect(await timed()).toBe(0);
});

it('one without a response is counted by how it failed', async () => {
  const policy = aPolicy(stable);
  const once: CallOptions = { idempotent: false };
  await policy.execute(once, failing(new ConnectionLostError('reset'))).catch(ignored);
  await policy.execute(once, failing(new NotSentError('refused'))).catch(ignored);
  await policy.execute(once, failing(new TransientError('503'))).catch(ignored);
  expect(await counted('outcome')).toEqual({ lost: 1, refused: 1, failed: 1 });
});

it('one whose time is over is a timeout', async () => {
  const policy = createCallPolicy('orders-payments', { ...limits, attemptTimeoutMs: 5 }, logger, {
    ...fixedReplicas([replicaAt('a:1')]),
  });
  opened.push(policy);
  const waits = ({ signal }: { signal: AbortSignal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  await policy.execute({ idempotent: false }, waits).catch(ignored);
  expect(await counted('outcome')).toEqual({ timeout: 1 });
});

it('the canary share at the choice is with each first attempt, and its duration where it is good', async () => {
  const policy = aPolicy(stable, canary);
  for (let order = 0; order < 200; order += 1)
    await policy.execute({ ...call, key: `order-${order}` }, async () => ({}));
  const by = await counted('track', 'attempt', 'share');
  expect(Object.keys(by).toSorted()).toEqual(['canary first 5', 'stable first 5']);
  expect((by['canary first 5'] ?? 0) + (by['stable first 5'] ?? 0)).toBe(200);
  expect(by['canary first 5']).toBeLessThan(40);
  expect(await timed()).toBe(200);
});

it('a retry has no share, whichever replica it reaches: it is for the failure before', async () => {
  const policy = aPolicy({ ...stable, weight: 50 }, { ...canary, weight: 50 });
  await policy.execute({ ...call, key: 'order' }, failing(new TransientError('503'))).catch(ignored);
  expect(await counted('outcome', 'attempt', 'share')).toEqual({ 'failed first 50': 1, 'failed repeat ': 1 });
  expect(await timed()).toBe(0);
});

it('a key counts once, whatever is called for it later', async () => {
  const policy = aPolicy({ ...stable, weight: 50 }, { ...canary, weight: 50 });
  for (let time = 0; time < 3; time += 1) await policy.execute({ ...call, key: 'order' }, async () => ({}));
  expect(await counted('attempt', 'share')).toEqual({ 'first 50': 1, 'repeat ': 2 });
});

it('a refused attempt counts although another replica takes its place', async () => {
  const policy = aPolicy(stable, stable);
  let sent = 0;
  await policy.execute({ idempotent: false }, async () => {
    sent += 1;
    if (sent === 1) throw new NotSentError('refused');
  });
  expect(await counted('outcome', 'attempt')).toEqual({ 'refused first': 1, 'ok repeat': 1 });
});

it('a probe is not counted', async () => {
  await aPolicy(stable).execute({ ...call, isProbe: true }, async () => ({}));
  expect(await counted('outcome')).toEqual({});
});
