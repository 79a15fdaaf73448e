import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { someUpstreams } from '../../test/support/upstreams.ts';
import { type EdgeLimits, edges } from './edges.ts';
import { createHttpClient } from './http-client.ts';
import { createLogger } from './logger.ts';
import { openReplicas } from './replicas.ts';
import { createCallPolicy } from './resilience.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });

/** Replicas that record when they are opened and closed. */
function someReplicas(...addresses: string[]) {
  const upstreams = someUpstreams();
  const log: string[] = [];
  const open = (address: string) => {
    log.push(`${address} opened`);
    return {
      address,
      check: async () => undefined,
      [Symbol.asyncDispose]: async () => void log.push(`${address} closed`),
    };
  };
  const replicas = openReplicas({ addresses, upstreams: upstreams.edge, open });
  return { replicas, log, ...upstreams };
}

describe('replicas', () => {
  it('are those of the start until the upstreams say otherwise, and again after that', () => {
    const { replicas, set, log } = someReplicas('a:1', 'b:1');
    const addresses = () => replicas.all.map(({ replica }) => replica.address);
    expect(addresses()).toEqual(['a:1', 'b:1']);
    set({ address: 'b:1' }, { address: 'c:1', weight: 7, track: 'canary', state: 'draining' });
    expect(addresses()).toEqual(['b:1', 'c:1']);
    expect(replicas.all[1]).toMatchObject({ weight: 7, track: 'canary', state: 'draining' });
    set();
    expect(addresses()).toEqual(['a:1', 'b:1']);
    expect(log).toEqual(['a:1 opened', 'b:1 opened', 'c:1 opened', 'a:1 closed', 'a:1 opened', 'c:1 closed']);
  });

  it('keep one whose weight, track or state changes', () => {
    const { replicas, set, log } = someReplicas('a:1');
    const before = replicas.all[0]?.replica;
    set({ address: 'a:1', weight: 1, track: 'canary', state: 'draining' });
    expect(replicas.all[0]?.replica).toBe(before);
    expect(log).toEqual(['a:1 opened']);
  });

  it('close one that is removed after its calls in flight, and report the change immediately', async () => {
    const { replicas, set, log } = someReplicas('a:1', 'b:1');
    const changes: number[] = [];
    replicas.follow(() => changes.push(replicas.all.length));
    const [{ replica } = { replica: undefined }] = replicas.all;
    const calls = [1, 2].map(() => Promise.withResolvers<void>());
    const used = calls.map(({ promise }) => replica && replicas.use(replica, () => promise));
    set({ address: 'b:1' });
    expect(changes).toEqual([1]);
    calls[0]?.resolve();
    await used[0];
    expect(log).not.toContain('a:1 closed');
    calls[1]?.reject(new Error('failed'));
    await expect(used[1]).rejects.toThrow('failed');
    expect(log.at(-1)).toBe('a:1 closed');
  });

  it('close once, all of them, at the end', async () => {
    const { replicas, set, log, followers } = someReplicas('a:1', 'b:1');
    const [{ replica } = { replica: undefined }] = replicas.all;
    const call = Promise.withResolvers<void>();
    const used = replica && replicas.use(replica, () => call.promise);
    set({ address: 'b:1' });
    await replicas[Symbol.asyncDispose]();
    call.resolve();
    await used;
    expect(log.slice(2).toSorted()).toEqual(['a:1 closed', 'b:1 closed']);
    expect(followers.size).toBe(0);
  });

  it('need an address', () => {
    expect(() => someReplicas()).toThrow('there are no addresses');
  });
});

/** Counts its requests and connections; `held` ones are responded to on `release`. */
async function aServer() {
  const held: (() => void)[] = [];
  const counts = { requests: 0 };
  const server: Server = createServer((request, response) => {
    if (request.url === '/health/live') return void response.end();
    counts.requests += 1;
    const respond = () => void response.end('{}');
    if (request.url === '/held') held.push(respond);
    else respond();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    held,
    connections: () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count))),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a client over HTTP', () => {
  const opened: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
  });

  async function aClient(changes: Partial<EdgeLimits> = {}) {
    const servers = [await aServer(), await aServer(), await aServer()] as const;
    const upstreams = someUpstreams();
    const client = createHttpClient('orders-payments', [`http://${servers[0].address}`], upstreams.edge);
    const limits = { ...edges['orders-payments'], attemptTimeoutMs: 9_000, callTimeoutMs: 9_000, ...changes };
    const policy = createCallPolicy('orders-payments', limits, logger, client.replicas);
    opened.push(...servers, client, { [Symbol.asyncDispose]: async () => policy[Symbol.dispose]() });
    const send = (path = '/', key?: string) =>
      policy.execute({ idempotent: false, key }, (attempt) => client.send({ method: 'GET', path }, attempt));
    return { servers, ...upstreams, send, policy };
  }

  it('sends its calls by the weights, and loses none while replicas come and go', async () => {
    const { servers, set, send } = await aClient();
    const [a, b, c] = servers;
    let isOver = false;
    let calls = 0;
    const callers = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        await send();
        calls += 1;
      }
    });
    const until = async (count: number) => expect.poll(() => calls, { timeout: 20_000 }).toBeGreaterThan(count);
    for (let round = 0; round < 3; round += 1) {
      set({ address: a.address }, { address: b.address }, { address: c.address });
      await until(calls + 40);
      set({ address: b.address }, { address: c.address, weight: 1 });
      await until(calls + 40);
    }
    isOver = true;
    await Promise.all(callers);
    expect(a.counts.requests + b.counts.requests + c.counts.requests).toBe(calls);
    set({ address: a.address, weight: 1 }, { address: b.address, weight: 3 });
    const before = [a.counts.requests, b.counts.requests];
    for (let call = 0; call < 40; call += 1) await send();
    expect([a.counts.requests, b.counts.requests]).toEqual([(before[0] ?? 0) + 10, (before[1] ?? 0) + 30]);
  });

  it('closes the connections of a removed replica when its calls in flight are over', async () => {
    const { servers, set, send } = await aClient();
    const [a, b] = servers;
    const inFlight = send('/held');
    await expect.poll(() => a.held.length).toBe(1);
    set({ address: b.address });
    await send();
    expect([a.counts.requests, b.counts.requests]).toEqual([1, 1]);
    expect(await a.connections()).toBe(1);
    for (const respond of a.held) respond();
    expect(await inFlight).toMatchObject({ status: 200 });
    await expect.poll(a.connections).toBe(0);
  });

  it('whose breaker is open tries other addresses immediately', async () => {
    const { servers, set, send, policy } = await aClient({ breakerFailingMs: 1 });
    set({ address: '127.0.0.1:9' });
    await expect
      .poll(async () => {
        await expect(send()).rejects.toThrow();
        return policy.state;
      })
      .toBe('open');
    set({ address: servers[0].address });
    expect(await send()).toMatchObject({ status: 200 });
    expect(policy.state).toBe('closed');
  });

  it('keeps the calls of a key at their track', async () => {
    const { servers, set, send } = await aClient();
    const [a, b] = servers;
    set({ address: a.address }, { address: b.address, track: 'canary' });
    for (let call = 0; call < 5; call += 1) await send('/', 'order-1');
    expect([a.counts.requests, b.counts.requests].toSorted()).toEqual([0, 5]);
    for (let call = 0; call < 40; call += 1) await send('/', `order-${call}`);
    expect(Math.min(a.counts.requests, b.counts.requests)).toBeGreaterThan(5);
  });
});
