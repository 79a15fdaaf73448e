import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { handleUnaryCall, Server, ServiceDefinition } from '@grpc/grpc-js';
import { Deadline } from '@shop/kit/deadline.ts';
import { edges } from '@shop/kit/edges.ts';
import { grpc, loadProto } from '@shop/kit/grpc.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { fixedReplicas, openReplicas } from '@shop/kit/replicas.ts';
import { createCallPolicy } from '@shop/kit/resilience.ts';
import { afterEach, expect, it, vi } from 'vitest';
import { someUpstreams } from '../../../test/support/upstreams.ts';
import { createStock, createStockReplica } from './stock-client.ts';

const ORDER_ID = '0198c9a0-0000-7000-8000-000000000001';
const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const opened: (() => unknown)[] = [];
afterEach(() => void opened.splice(0).map((close) => close()));

const servers = new Map<number, Server>();

/** Binds a server for `inventory` and returns its port. */
async function serve(inventory: Record<'Reserve' | 'Release', handleUnaryCall<unknown, unknown>>) {
  const server = new grpc.Server();
  server.addService(loadProto('stock.proto')['stock.Inventory'] as ServiceDefinition, inventory);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  opened.push(() => server.forceShutdown());
  servers.set(port, server);
  return port;
}

const reserving = {
  Reserve: ((_call, callback) => callback(null, { outcome: 'RESERVE_OUTCOME_RESERVED' })) satisfies handleUnaryCall<
    unknown,
    unknown
  >,
  Release: ((_call, callback) => callback(null, {})) satisfies handleUnaryCall<unknown, unknown>,
};

function replicaAt(port: number) {
  const replica = createStockReplica(`127.0.0.1:${port}`);
  opened.push(() => replica[Symbol.asyncDispose]());
  return replica;
}

function stockAt(...ports: number[]) {
  const policy = createCallPolicy('orders-stock', edges['orders-stock'], logger, fixedReplicas(ports.map(replicaAt)));
  opened.push(() => policy[Symbol.dispose]());
  return { stock: createStock(policy), policy };
}

/** A stock service that takes calls and never responds, and how many ms it was given for each. */
async function aSilentStock() {
  const givenMs: number[] = [];
  const port = await serve({
    Reserve: (call) => void givenMs.push(Number(call.getDeadline()) - Date.now()),
    Release: () => undefined,
  });
  return { ...stockAt(port), givenMs };
}

it('ends with its caller, and the breaker stays closed for all others', async () => {
  const { stock, policy, givenMs } = await aSilentStock();
  for (let call = 0; call < 8; call += 1) {
    await expect(stock.reserve(ORDER_ID, [], Deadline.after(40))).rejects.toMatchObject({ reason: 'timeout' });
  }
  expect(policy.state).toBe('closed');
  expect(Math.max(...givenMs)).toBeLessThanOrEqual(40);
});

/** A network to `port`: `cut` makes the connections that it has carry nothing any more, without an end; new ones work. */
async function aNetwork(port: number) {
  const connections: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) socket.on('error', () => socket.destroy());
    near.pipe(far).pipe(near);
    connections.push(near, far);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(() => {
    server.close();
    for (const socket of connections) socket.destroy();
  });
  const cut = () => {
    for (const socket of connections) socket.unpipe().resume();
  };
  return { port: (server.address() as AddressInfo).port, cut };
}

it('leaves a connection that carries nothing any more', { timeout: 15_000 }, async () => {
  const network = await aNetwork(await serve(reserving));
  const { stock } = stockAt(network.port);
  const reserve = () => stock.reserve(ORDER_ID, [], Deadline.after(9_000));
  expect(await reserve()).toBe('reserved');
  network.cut();
  // The connection is pinged after 3 s, and given up a second later.
  await vi.waitFor(async () => expect(await reserve()).toBe('reserved'), { timeout: 12_000, interval: 100 });
});

/** A process that is frozen: its kernel takes connections and what they bring. */
async function aFrozenStock() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

it('goes to another replica when one does not respond', async () => {
  const { stock } = stockAt(await aFrozenStock(), await serve(reserving));
  for (let call = 0; call < 4; call += 1) {
    expect(await stock.reserve(ORDER_ID, [], Deadline.after(9_000))).toBe('reserved');
  }
});

it('finds a replica alive whatever that says of its health, and not one that says nothing', async () => {
  const unaware = replicaAt(await serve(reserving));
  await expect(unaware.check(AbortSignal.timeout(5_000))).resolves.toBeUndefined();
  const frozen = replicaAt(await aFrozenStock());
  await expect(frozen.check(AbortSignal.timeout(100))).rejects.toThrow('no response to a health check');
});

it('loses no reservation while one of two replicas drains, which states in GOAWAY what it serves', async () => {
  const [leaving, staying] = [await serve(reserving), await serve(reserving)];
  const { stock } = stockAt(leaving, staying);
  let isOver = false;
  const outcomes = new Set<string>();
  const callers = Array.from({ length: 16 }, async () => {
    while (!isOver) outcomes.add(await stock.reserve(ORDER_ID, [], Deadline.after(9_000)).catch(String));
  });
  await expect.poll(() => outcomes.size).toBe(1);
  await new Promise<void>((resolve) => servers.get(leaving)?.tryShutdown(() => resolve()));
  isOver = true;
  await Promise.all(callers);
  expect([...outcomes]).toEqual(['reserved']);
});

it('follows the upstreams: a replica that is removed serves its calls in flight, and others take the next', async () => {
  const release = Promise.withResolvers<void>();
  const counts = { leaving: 0, coming: 0 };
  const leaving = await serve({
    ...reserving,
    Reserve(call, callback) {
      counts.leaving += 1;
      void release.promise.then(() => reserving.Reserve(call, callback));
    },
  });
  const coming = await serve({
    ...reserving,
    Reserve(call, callback) {
      counts.coming += 1;
      reserving.Reserve(call, callback);
    },
  });
  const { edge: upstreams, set } = someUpstreams();
  const replicas = openReplicas({ addresses: [`127.0.0.1:${leaving}`], upstreams, open: createStockReplica });
  const limits = { ...edges['orders-stock'], attemptTimeoutMs: 9_000, callTimeoutMs: 9_000 };
  const policy = createCallPolicy('orders-stock', limits, logger, replicas);
  opened.push(
    () => policy[Symbol.dispose](),
    () => replicas[Symbol.asyncDispose](),
  );
  const stock = createStock(policy);
  const inFlight = stock.reserve(ORDER_ID, [], Deadline.after(9_000));
  await expect.poll(() => counts.leaving).toBe(1);
  set({ address: `127.0.0.1:${coming}` });
  for (let call = 0; call < 5; call += 1) await stock.reserve(ORDER_ID, [], Deadline.after(9_000));
  release.resolve();
  expect(await inFlight).toBe('reserved');
  expect(counts).toEqual({ leaving: 1, coming: 5 });
});

it('asks replicas of one track for all that concerns an order', async () => {
  const asked: string[] = [];
  const aStock = (name: string) =>
    serve({
      Reserve: (call, callback) => {
        asked.push(name);
        reserving.Reserve(call, callback);
      },
      Release: (call, callback) => {
        asked.push(name);
        reserving.Release(call, callback);
      },
    });
  const addresses = [`127.0.0.1:${await aStock('stable')}`, `127.0.0.1:${await aStock('canary')}`] as const;
  const { edge: upstreams, set } = someUpstreams();
  set({ address: addresses[0] }, { address: addresses[1], track: 'canary' });
  const replicas = openReplicas({ addresses, upstreams, open: createStockReplica });
  const policy = createCallPolicy('orders-stock', edges['orders-stock'], logger, replicas);
  opened.push(
    () => policy[Symbol.dispose](),
    () => replicas[Symbol.asyncDispose](),
  );
  const stock = createStock(policy);
  const tracks = new Set<string | undefined>();
  for (let order = 0; order < 20; order += 1) {
    asked.length = 0;
    await stock.reserve(`order-${order}`, [], Deadline.after(9_000));
    await stock.release(`order-${order}`, Deadline.after(9_000));
    expect(asked[0]).toBe(asked[1]);
    tracks.add(asked[0]);
  }
  expect(tracks).toEqual(new Set(['stable', 'canary']));
});
