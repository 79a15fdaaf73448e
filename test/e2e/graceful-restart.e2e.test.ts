/*
 * Goal: to replace one of two replicas, both of them by one command, or the only one of a service loses no request and no
 * order. Method: the supervisor restarts orders-1 (SIGTERM) again and again, then both replicas, then each service behind the
 * gateway with one replica, under steady traffic on kept connections. RESTARTS, ORDERS_RATE and READS_RATE make it a longer
 * run with more of it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { askedFrom } from '../../cli/src/platform/change-log.ts';
import { createControlClient } from '../../cli/src/platform/control-client.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const RESTARTS = Number(process.env.RESTARTS ?? 5);
/** Of each service with one replica. */
const RESTARTS_ALONE = Number(process.env.RESTARTS ?? 1);
const ALONE = ['orders', 'catalog', 'stock', 'payments', 'shipping'];
/** Requests a second: as many as leave a small machine some CPU, unless configured. */
const RATE = { orders: Number(process.env.ORDERS_RATE ?? 20), reads: Number(process.env.READS_RATE ?? 40) };
/** A restart with its drain and start on a busy machine, in ms. */
const RESTART_MS = 20_000;

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform({ project: 'e2e-graceful', replicas: { orders: 2 } });
});
afterAll(() => platform?.stop());

/** Sends at a steady rate, whatever becomes of what was sent before, until `stop`. */
function send(perSecond: number, one: () => Promise<string>) {
  const seen = new Map<string, number>();
  const under = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const work = one()
      .catch((error: Error) => `no response: ${error.message}`)
      .then((outcome) => void seen.set(outcome, (seen.get(outcome) ?? 0) + 1))
      .finally(() => under.delete(work));
    under.add(work);
  }, 1_000 / perSecond);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(under);
      return Object.fromEntries(seen);
    },
  };
}

/** Orders and reads on kept connections while `work` is done, by their outcomes. */
async function underLoad(work: () => Promise<void>) {
  const gateway = new Pool(platform.gatewayUrl, { pipelining: 1, connections: 64 });
  const order = JSON.stringify({ customer: 'Taras', lines: [{ productId: 1, quantity: 1 }] });
  let path = '/api/orders/none';
  const orders = send(RATE.orders, async () => {
    const headers = { 'content-type': 'application/json' };
    const {
      statusCode,
      headers: reported,
      body,
    } = await gateway.request({ method: 'POST', path: '/api/orders', headers, body: order });
    const response = (await body.json()) as { code?: string; reason?: string; status?: string };
    if (statusCode === 201) path = String(reported.location);
    return `${statusCode} ${response.code ?? response.reason ?? response.status}`;
  });
  await expect.poll(() => path, { timeout: 10_000 }).toMatch(/^\/api\/orders\/[0-9a-f-]{36}$/);
  const reads = send(RATE.reads, async () => {
    const { statusCode, body } = await gateway.request({ method: 'GET', path });
    await body.dump();
    return String(statusCode);
  });
  await work();
  const seen = { orders: await orders.stop(), reads: await reads.stop() };
  if (process.env.RESTARTS !== undefined) console.log(JSON.stringify(seen));
  await gateway.close();
  if (Object.keys({ ...seen.orders, ...seen.reads }).length > 2) {
    const lines = await platform.logs('orders', 'gateway');
    console.warn(lines.filter(({ level }) => level === 'warn' || level === 'error').slice(-20));
  }
  return { orders: Object.keys(seen.orders), reads: Object.keys(seen.reads) };
}

const noneFailed = { orders: ['201 Confirmed'], reads: ['200'] };

it('SIGTERM of one of two replicas of orders under load fails no request', {
  timeout: RESTARTS * RESTART_MS,
}, async () => {
  const control = createControlClient(platform.project);
  const seen = await underLoad(async () => {
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      await control.service('orders-1', 'restart', askedFrom('command line'));
      // So that it has traffic again before its next end.
      await delay(500);
    }
  });
  expect(seen).toEqual(noneFailed);
});

it('"restart orders" under load replaces both replicas, one after the other, and fails no request', {
  timeout: 6 * RESTART_MS,
}, async () => {
  const pids = async () => {
    const { instances } = await platform.state();
    return instances.filter(({ service }) => service === 'orders').map(({ process }) => process?.pid);
  };
  const before = await pids();
  const seen = await underLoad(async () => {
    for (let restart = 0; restart < 2; restart += 1) {
      expect(await platform.shopctl('restart', 'orders')).toMatchObject({ code: 0 });
      await delay(1_000);
    }
  });
  const after = await pids();
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);
  expect(seen).toEqual(noneFailed);
});

it('"restart SERVICE" with one replica under load fails no request: its successor is ready before it ends', {
  timeout: (2 + ALONE.length * RESTARTS_ALONE) * RESTART_MS,
}, async () => {
  expect(await platform.shopctl('scale', 'orders=1')).toMatchObject({ code: 0 });
  const control = createControlClient(platform.project);
  const before = await platform.state();
  const seen = await underLoad(async () => {
    for (let restart = 0; restart < RESTARTS_ALONE; restart += 1) {
      for (const service of ALONE) await control.service(service, 'restart', askedFrom('command line'));
    }
  });
  const { instances } = await platform.state();
  const pids = before.instances.map(({ process }) => process?.pid);
  const replaced = instances.filter(({ process }) => !pids.includes(process?.pid)).map(({ service }) => service);
  expect(replaced.toSorted()).toEqual(ALONE.toSorted());
  // The address is the same: callers and proxies are as before.
  expect(instances.map(({ ports }) => ports.main)).toEqual(before.instances.map(({ ports }) => ports.main));
  expect(seen).toEqual(noneFailed);
  // No order is lost or has an effect twice.
  expect(await platform.shopctl('audit')).toMatchObject({ code: 0 });
});
