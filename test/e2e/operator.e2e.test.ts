/*
 * Goal: scale, drain and reroute change a platform under load, and fail no request; with shed, each ends the effect of a fault
 * that is still active. Method: the commands, as a user runs
 * them, while orders are placed at a steady rate; one platform for all.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createControlClient } from '../../cli/src/platform/control-client.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

/** Orders a second: as many as leave a small machine some CPU. */
const RATE = 20;
/** Calls from orders to payments in flight, and as many again that wait: the capacity that a slow edge exceeds. */
const BULKHEAD = 16;

let platform: TestPlatform;
let gateway: Pool;
beforeAll(async () => {
  platform = await startPlatform({
    project: 'e2e-operator',
    env: { EDGE_ORDERS_PAYMENTS_BULKHEAD: String(BULKHEAD) },
  });
  gateway = new Pool(platform.gatewayUrl, { pipelining: 1, connections: 64 });
});
afterAll(async () => {
  await gateway?.close();
  await platform?.stop();
});

/** What a test that failed has left must not fail the next one. */
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  await platform.shopctl('chaos', 'clear', '--all');
  await platform.shopctl('shed', '0');
  await platform.shopctl('scale', 'orders=1');
});

/** `201 Confirmed`, and how long that took, ms. */
async function order(): Promise<{ outcome: string; tookMs: number }> {
  const began = performance.now();
  const response = await gateway.request({
    method: 'POST',
    path: '/api/orders',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ customer: 'Taras', lines: [{ productId: 1, quantity: 1 }] }),
  });
  const body = (await response.body.json()) as { code?: string; reason?: string; status?: string };
  return {
    outcome: `${response.statusCode} ${body.code ?? body.reason ?? body.status}`,
    tookMs: performance.now() - began,
  };
}

/** The outcomes of orders that are placed at a steady rate while `work`, which sees those so far, is done; each once. */
async function underLoad(work: (outcomes: ReadonlySet<string>) => Promise<void>): Promise<readonly string[]> {
  const outcomes = new Set<string>();
  const open = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const one = order()
      .then(({ outcome }) => outcome)
      .catch((error: Error) => `no response: ${error.message}`)
      .then((outcome) => void outcomes.add(outcome))
      .finally(() => open.delete(one));
    open.add(one);
  }, 1_000 / RATE);
  try {
    await work(outcomes);
  } finally {
    clearInterval(timer);
    await Promise.all(open);
  }
  return [...outcomes];
}

/** Runs a command that succeeds, and resolves with its JSON. */
async function shopctl<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await platform.shopctl(...args, '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
}

/** How many orders an instance has decided, by its log. */
async function decidedBy(instance: string): Promise<number> {
  const lines = await platform.logs('orders');
  return lines.filter((line) => line.instance === instance && line.msg === 'order decided').length;
}

const pidOf = async (name: string) => (await platform.instance(name)).process?.pid;

it('scale orders 1 to 3 to 1 under load fails no request, and restarts no other process', async () => {
  const before = [await pidOf('gateway-1'), await pidOf('orders-1')];
  const outcomes = await underLoad(async () => {
    expect(await shopctl('scale', 'orders=3')).toMatchObject({ changed: true });
    await expect.poll(() => decidedBy('orders-3'), { timeout: 20_000 }).toBeGreaterThan(5);
    await shopctl('scale', 'orders=1');
  });
  expect(outcomes).toEqual(['201 Confirmed']);
  expect([await pidOf('gateway-1'), await pidOf('orders-1')]).toEqual(before);
  const { instances, edges } = await platform.state();
  expect(instances.filter(({ service }) => service === 'orders').map(({ name }) => name)).toEqual(['orders-1']);
  expect(edges.filter(({ to }) => to === 'orders').map(({ name }) => name)).toEqual(['gateway-orders']);
});

it('a drained replica gets no calls until that is undone, and "status" shows it', async () => {
  // Of one service alone: the gateway, which is not named, turns to the new replica too.
  await shopctl('up', 'orders', '--replicas', 'orders=2', '--no-build');
  const outcomes = await underLoad(async () => {
    await expect.poll(() => decidedBy('orders-2'), { timeout: 20_000 }).toBeGreaterThan(5);
    await shopctl('drain', 'orders-2');
    // Orders that it has are decided first; from then on the other one decides all.
    const decidedMeanwhile = async () => {
      const [first, second] = [await decidedBy('orders-1'), await decidedBy('orders-2')];
      await expect.poll(() => decidedBy('orders-1'), { timeout: 20_000 }).toBeGreaterThan(first + 20);
      return (await decidedBy('orders-2')) - second;
    };
    await expect.poll(decidedMeanwhile, { timeout: 30_000 }).toBe(0);
    const before = await decidedBy('orders-2');
    expect((await platform.shopctl('status')).stdout).toContain('orders-2: draining, takes no new work (weight 100)');
    await shopctl('drain', 'orders-2', '--undo');
    await expect.poll(() => decidedBy('orders-2'), { timeout: 20_000 }).toBeGreaterThan(before);
  });
  expect(outcomes).toEqual(['201 Confirmed']);
  await shopctl('scale', 'orders=1');
});

/** Longer than an order takes on a busy machine, ms; an order has one call to payments, and several statements. */
const SLOW_MS = 900;
/** Shorter than the time limit of an attempt (2 s), ms. */
const SLOW_PAYMENTS_MS = 1_500;

it.each([
  ['orders-payments', '900ms'],
  ['orders-db', '300ms'],
])('reroute cures a fault on %s, and a new one is refused', async (edge, latency) => {
  const inject = ['chaos', 'inject', edge, 'latency', '--latency', latency];
  const tookMs = async () => (await order()).tookMs;
  await shopctl(...inject);
  expect(await tookMs()).toBeGreaterThan(SLOW_MS);
  await shopctl('reroute', edge, '--via', 'standby');
  await expect.poll(tookMs, { timeout: 20_000 }).toBeLessThan(SLOW_MS);
  expect((await platform.shopctl('status')).stdout).toContain(`${edge}: rerouted past its proxy`);
  await shopctl('chaos', 'clear', '--all');
  const refused = await platform.shopctl(...inject, '--json');
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain('"code":"edge_rerouted"');
  await shopctl('reroute', edge, '--via', 'primary');
  await shopctl(...inject);
  await expect.poll(tookMs, { timeout: 20_000 }).toBeGreaterThan(SLOW_MS);
  await shopctl('chaos', 'clear', '--all');
});

it('scale cures a frozen replica: the one that it adds takes the orders', { timeout: 120_000 }, async () => {
  const isConfirmed = async () => (await order()).outcome === '201 Confirmed';
  await shopctl('chaos', 'inject', 'orders-1', 'pause', '--ttl', '10m');
  expect(await isConfirmed()).toBe(false);
  await shopctl('scale', 'orders=2');
  await expect.poll(isConfirmed, { timeout: 60_000 }).toBe(true);
  await shopctl('chaos', 'clear', '--all');
  await shopctl('scale', 'orders=1');
});

it('drain cures a replica with a slow network: the other one takes the orders', { timeout: 120_000 }, async () => {
  await shopctl('scale', 'orders=2');
  await shopctl('chaos', 'inject', 'gateway-orders-2', 'latency', '--latency', '900ms', '--ttl', '10m');
  const slowOfFew = async () => {
    const few = await Promise.all(Array.from({ length: 6 }, order));
    expect(new Set(few.map(({ outcome }) => outcome))).toEqual(new Set(['201 Confirmed']));
    return few.filter(({ tookMs }) => tookMs > SLOW_MS).length;
  };
  expect(await slowOfFew()).toBeGreaterThan(0);
  await shopctl('drain', 'orders-2');
  await expect.poll(slowOfFew, { timeout: 20_000 }).toBe(0);
  await shopctl('drain', 'orders-2', '--undo');
  await expect.poll(slowOfFew, { timeout: 20_000 }).toBeGreaterThan(0);
  await shopctl('chaos', 'clear', '--all');
  await shopctl('scale', 'orders=1');
});

it('shed cures overload: what is admitted is confirmed', { timeout: 120_000 }, async () => {
  const afterASecond = () => underLoad(() => delay(1_000 + SLOW_PAYMENTS_MS));
  // 16 calls of 1.5 s are 10 orders a second, half of what comes; the others wait, and then there is no more room.
  await shopctl('chaos', 'inject', 'orders-payments', 'latency', '--latency', `${SLOW_PAYMENTS_MS}ms`, '--ttl', '10m');
  // Without a pause: where processors are busy, the room fills slowly.
  await underLoad((outcomes) =>
    expect.poll(() => [...outcomes], { timeout: 30_000 }).toContain('200 payment unavailable'),
  );
  await shopctl('shed', '80');
  await expect
    .poll(async () => (await afterASecond()).toSorted(), { timeout: 60_000 })
    .toEqual(['201 Confirmed', '503 order_shed']);
  await shopctl('shed', '0');
  await shopctl('chaos', 'clear', '--all');
});

it('each is a line of "changes", by the user who asked and with the reason', async () => {
  await shopctl('scale', 'catalog=2', '--reason', 'sale');
  await shopctl('scale', 'catalog=1');
  const { changes } = await shopctl<{ changes: readonly object[] }>('changes', '--kind', 'scale', 'drain', 'reroute');
  expect(changes).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        kind: 'scale',
        target: 'catalog',
        from: '1',
        to: '2',
        reason: 'sale',
        by: { user: expect.any(String), source: 'command line' },
      }),
      expect.objectContaining({ kind: 'drain', target: 'orders-2', from: 'active', to: 'draining' }),
      expect.objectContaining({ kind: 'reroute', target: 'orders-payments', from: 'primary', to: 'standby' }),
    ]),
  );
});

it('a scale that kill -9 of the supervisor cut off is completed by "up", which keeps what was drained and rerouted', {
  timeout: 240_000,
}, async () => {
  await shopctl('scale', 'payments=2');
  await shopctl('drain', 'payments-2');
  await shopctl('reroute', 'orders-payments', '--via', 'standby');
  const { supervisor } = await platform.state();
  const killed = killAt('scale.start', supervisor.pid, await latestEvent());
  const { code } = await platform.shopctl('scale', 'payments=3');
  await killed;
  expect(code).not.toBe(0);
  // Its reaper ends what it ran, and a start waits for that.
  await expect.poll(async () => (await platform.shopctl('up', '--no-build')).code, { timeout: 120_000 }).toBe(0);
  const { instances, edges } = await platform.state();
  const payments = instances.filter(({ service }) => service === 'payments');
  expect(payments.map(({ name, status, upstream }) => `${name} ${status} ${upstream?.state}`)).toEqual([
    'payments-1 ready active',
    'payments-2 ready draining',
    'payments-3 ready active',
  ]);
  expect(edges.filter(({ to }) => to === 'payments').map(({ via }) => via)).toEqual(payments.map(() => 'standby'));
  expect((await platform.shopctl('order', 'place')).stdout).toContain('Confirmed');
});

/** The number of the latest event. */
async function latestEvent(): Promise<number> {
  let latest = 0;
  for await (const { seq } of createControlClient(platform.project).events({ follow: false })) latest = seq;
  return latest;
}

/** Resolves once the supervisor was killed: as soon as it says that a step of this type begins. */
async function killAt(step: string, pid: number, after: number): Promise<void> {
  for await (const { seq, type } of createControlClient(platform.project).events({ follow: true })) {
    if (seq <= after || type !== step) continue;
    process.kill(pid, 'SIGKILL');
    return;
  }
}
