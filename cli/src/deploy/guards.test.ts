import { DEAD_LETTERS_QUEUE } from '@shop/kit/topology.ts';
import { expect, it } from 'vitest';
import type { MetricPoint } from '../otlp/metric-store.ts';
import type { InstanceState } from '../platform/state.ts';
import { createGuards } from './guards.ts';

type Changes = Partial<InstanceState>;

const instance = (name: string, changes: Changes = {}) =>
  ({
    name,
    service: name.split('-')[0],
    kind: 'service',
    status: 'ready',
    ports: { main: 4001 },
    crashes: 0,
    ...changes,
  }) as InstanceState;
const rabbitmq = instance('rabbitmq', { kind: 'component', ports: { main: 5672 } });
const deadLetters = (value: number) =>
  ({
    name: 'shop.queue.messages',
    type: 'gauge',
    attributes: { queue: DEAD_LETTERS_QUEUE },
    value,
  }) as unknown as MetricPoint;
const calls = (error: string | undefined, count: number, port = 4001) =>
  ({
    name: 'http.client.request.duration',
    type: 'histogram',
    attributes: { 'server.port': port, ...(error !== undefined && { 'error.type': error }) },
    count,
  }) as unknown as MetricPoint;

/** Guards of a deploy of orders that has begun, on a platform that a test changes. */
async function begun({ points = [deadLetters(3)] }: { points?: readonly MetricPoint[] } = {}) {
  const platform = {
    now: 0,
    points: points as readonly MetricPoint[] | undefined,
    instances: [rabbitmq, instance('orders-1'), instance('orders-2', { crashes: 1 })],
  };
  const guards = createGuards({
    state: () => ({ instances: platform.instances, edges: [] }),
    metrics: async () => {
      if (platform.points === undefined) throw new Error('read ECONNRESET');
      return platform.points;
    },
    now: () => platform.now,
  });
  await guards.begin('orders');
  const check = () => guards.check(['orders-2']);
  const becomes = (changes: Changes) => {
    platform.instances = [rabbitmq, instance('orders-1'), instance('orders-2', { crashes: 1, ...changes })];
  };
  return { platform, guards, check, becomes };
}

it('what was so before the deploy trips nothing', async () => {
  const { check, guards } = await begun({ points: [deadLetters(3), calls('UND_ERR_SOCKET', 9)] });
  await check();
  await guards.conclude();
});

it('a new instance that ends trips, also where it was started again', async () => {
  const { check, becomes } = await begun();
  becomes({ crashes: 2, reason: 'exit code 7' });
  await expect(check()).rejects.toMatchObject({ why: { guard: 'exit', text: expect.stringContaining('exit code 7') } });
});

it('a new instance that is not ready for two seconds trips, and a moment does not', async () => {
  const { check, becomes, platform } = await begun();
  becomes({ status: 'unready', reason: 'database is down' });
  await check();
  platform.now = 1_900;
  await check();
  becomes({});
  await check();
  becomes({ status: 'unready', reason: 'database is down' });
  platform.now = 2_000;
  await check();
  platform.now = 4_000;
  await expect(check()).rejects.toMatchObject({ why: { guard: 'not-ready' } });
});

it('one more dead letter trips', async () => {
  const { check, platform } = await begun();
  platform.points = [deadLetters(4)];
  await expect(check()).rejects.toMatchObject({ why: { guard: 'dead-letters', text: 'dead letters added: 1' } });
});

it.each([
  ['ECONNRESET', true],
  ['UND_ERR_SOCKET', true],
  ['UNAVAILABLE', true],
  ['503', false],
  ['TimeoutError', false],
  [undefined, false],
])('calls that end with %s trip: %s', async (error, trips) => {
  const { check, platform } = await begun();
  platform.points = [deadLetters(3), calls(error, 3), calls(error, 50, 9_999)];
  const checked = check().then(
    () => undefined,
    ({ why }) => why.guard,
  );
  expect(await checked).toBe(trips ? 'attempts' : undefined);
});

it('a platform with a broker whose dead letters were never known is not evaluated', async () => {
  const { guards, check } = await begun({ points: [] });
  await check();
  await expect(guards.conclude()).rejects.toMatchObject({ why: { kind: 'evidence' } });
});

it('metrics that cannot be read for a moment trip nothing, and for ten seconds are missing evidence', async () => {
  const { check, guards, platform } = await begun();
  const { points } = platform;
  platform.points = undefined;
  await check();
  platform.points = points;
  platform.now = 20_000;
  await check();
  await guards.conclude();
  platform.points = undefined;
  await check();
  platform.now = 29_999;
  await check();
  await expect(guards.conclude()).rejects.toMatchObject({ why: { kind: 'evidence' } });
  platform.now = 30_000;
  await expect(check()).rejects.toMatchObject({
    why: { kind: 'evidence', text: 'the metrics could not be read for 10 s: read ECONNRESET' },
  });
});
