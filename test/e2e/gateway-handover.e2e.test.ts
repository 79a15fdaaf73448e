/*
 * Goal: the gateway's port passes from process to process without a lost request. Method: one or both of the gateways are
 * replaced again and again under orders and reads, on kept connections and on one connection for each request.
 * RESTARTS, ORDERS_RATE and READS_RATE make it a longer run with more of it.
 */
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { askedFrom } from '../../cli/src/platform/change-log.ts';
import { createControlClient } from '../../cli/src/platform/control-client.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const RESTARTS = Number(process.env.RESTARTS ?? 3);
/** Requests a second on each kind of connections: as many as leave a small machine some CPU, unless configured. */
const RATE = { orders: Number(process.env.ORDERS_RATE ?? 2), reads: Number(process.env.READS_RATE ?? 10) };
/** A restart with its drain and start on a busy machine, in ms. */
const RESTART_MS = 20_000;

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform({ project: 'e2e-handover', services: ['gateway'], direct: true });
});
afterAll(() => platform?.stop());

const gateways = async () => (await platform.state()).instances.filter(({ service }) => service === 'gateway');
const pids = async () => (await gateways()).map(({ process }) => process?.pid);

interface Sent {
  readonly kept: boolean;
  readonly what: 'order' | 'read';
  /** Monotonic, ms. */
  readonly at: number;
  readonly outcome: string;
}

const ORDER = JSON.stringify({ customer: 'Taras', lines: [{ productId: 1, quantity: 1 }] });

/** Sends at steady rates while `work` is done, whatever becomes of what was sent before. Resolves with all outcomes. */
async function underLoad(work: () => Promise<void>): Promise<readonly Sent[]> {
  const { hostname, port } = new URL(platform.gatewayUrl);
  // In turn: an idle connection that the server closes may be chosen in the same moment (decision 0026).
  const kept = new Agent({ keepAlive: true, maxSockets: 32, scheduling: 'fifo' });
  const sent: Sent[] = [];
  const under = new Set<Promise<void>>();
  const ask = async (what: Sent['what'], agent: Agent | false) => {
    const asked = request({
      host: hostname,
      port,
      agent,
      method: what === 'order' ? 'POST' : 'GET',
      path: what === 'order' ? '/api/orders' : '/api/orders/00000000-0000-4000-8000-000000000000',
      headers: { 'content-type': 'application/json', connection: agent ? 'keep-alive' : 'close' },
    });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    asked.once('response', (response) => {
      text(response).then(
        (body) => resolve(`${response.statusCode} ${(JSON.parse(body) as Record<string, string>).status}`),
        reject,
      );
    });
    asked.once('error', reject);
    asked.end(what === 'order' ? ORDER : undefined);
    return promise;
  };
  const timers = ([true, false] as const).flatMap((isKept) =>
    (['order', 'read'] as const).map((what) =>
      setInterval(
        () => {
          const at = performance.now();
          const one = ask(what, isKept && kept)
            .catch((error: NodeJS.ErrnoException) => `no response: ${error.code}`)
            .then((outcome) => void sent.push({ kept: isKept, what, at, outcome }))
            .finally(() => under.delete(one));
          under.add(one);
        },
        1_000 / (what === 'order' ? RATE.orders : RATE.reads),
      ),
    ),
  );
  // Each kind has been served before anything is replaced.
  await expect
    .poll(() => new Set(sent.map(({ kept: isKept, what }) => `${isKept} ${what}`)).size, { timeout: 30_000 })
    .toBe(4);
  try {
    await work();
  } finally {
    for (const timer of timers) clearInterval(timer);
    await Promise.all(under);
    kept.destroy();
  }
  if (process.env.RESTARTS !== undefined) console.log(JSON.stringify(count(sent)));
  return sent;
}

/** How many had which outcome, by what they were. */
function count(sent: readonly Sent[]): Readonly<Record<string, number>> {
  const groups = Object.groupBy(sent, ({ kept, what, outcome }) => `${what}, ${kept ? 'kept' : 'new'}: ${outcome}`);
  return Object.fromEntries(Object.entries(groups).map(([name, all]) => [name, all?.length ?? 0]));
}

const served = ['order, kept: 201 Confirmed', 'order, new: 201 Confirmed', 'read, kept: 404 404', 'read, new: 404 404'];

it('"restart gateway" with one replica under load fails no request: its successor is ready before it ends', {
  timeout: RESTARTS * RESTART_MS,
}, async () => {
  const control = createControlClient(platform.project);
  const seen = new Set(await pids());
  const sent = await underLoad(async () => {
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      await control.service('gateway', 'restart', askedFrom('command line'));
      for (const pid of await pids()) seen.add(pid);
    }
  });
  expect(Object.keys(count(sent)).sort()).toEqual(served);
  expect(seen.size).toBe(1 + RESTARTS);
});

it('two replicas share the port, and restarting both under load fails no request', {
  timeout: 8 * RESTART_MS,
}, async () => {
  const before = await pids();
  const sent = await underLoad(async () => {
    expect(await platform.shopctl('up', 'gateway', '--replicas', 'gateway=2', '--direct')).toMatchObject({ code: 0 });
    expect(await pids()).toEqual([...before, expect.any(Number)]);
    expect(await platform.shopctl('restart', 'gateway')).toMatchObject({ code: 0 });
  });
  expect(Object.keys(count(sent)).sort()).toEqual(served);
  const after = await gateways();
  expect(after.map(({ ports }) => ports.main)).toEqual([1, 2].map(() => Number(new URL(platform.gatewayUrl).port)));
  expect(new Set(after.map(({ ports }) => ports.health)).size).toBe(2);
  expect(after.filter(({ process }) => before.includes(process?.pid))).toEqual([]);
});

it('kill -9 of one of two fails only requests that it had', { timeout: 4 * RESTART_MS }, async () => {
  const [killed] = await gateways();
  let killedAt = 0;
  const sent = await underLoad(async () => {
    killedAt = performance.now();
    process.kill(killed?.process?.pid as number, 'SIGKILL');
    const isReplaced = async () => {
      const [first] = await gateways();
      return first?.status === 'ready' && first.process?.pid !== killed?.process?.pid;
    };
    await expect.poll(isReplaced, { timeout: RESTART_MS }).toBe(true);
  });
  const failed = sent.filter(({ outcome }) => !served.some((one) => one.endsWith(outcome)));
  expect(failed.filter(({ kept, at }) => !kept && at > killedAt)).toEqual([]);
  expect(new Set(failed.map(({ outcome }) => outcome)).isSubsetOf(new Set(['no response: ECONNRESET']))).toBe(true);
});

it('is listened on by no process once the supervisor was killed', { timeout: 2 * RESTART_MS }, async () => {
  const { supervisor } = await platform.state();
  const processes = await pids();
  process.kill(supervisor.pid, 'SIGKILL');
  const responds = () =>
    new Promise<string>((resolve) => {
      const asked = request(platform.gatewayUrl, { agent: false, timeout: 5_000 }, (response) => {
        response.resume();
        resolve(String(response.statusCode));
      });
      asked.once('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)));
      asked.end();
    });
  await expect.poll(responds, { timeout: RESTART_MS }).toBe('ECONNREFUSED');
  const isAlive = (pid: number | undefined) => {
    try {
      return process.kill(pid as number, 0);
    } catch {
      return false; // It has ended.
    }
  };
  await expect.poll(() => processes.filter(isAlive), { timeout: RESTART_MS }).toEqual([]);
});
