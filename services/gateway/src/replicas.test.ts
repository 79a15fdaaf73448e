import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { edges } from '@shop/kit/edges.ts';
import { ConnectionLostError } from '@shop/kit/failures.ts';
import { openHttpReplicas } from '@shop/kit/http-replica.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { createCallPolicy } from '@shop/kit/resilience.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { checkAny, sendTo } from './replicas.ts';

const logger = createLogger({ service: 'gateway', instance: 'gateway-test', level: 'silent' });
const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

/** A server that counts its requests; the port of `closed` ones refuses connections. */
async function aServer(respond: (server: Server) => 'respond' | 'hang up' | 'hold' = () => 'respond') {
  let requests = 0;
  const server = createServer((request, response) => {
    if (request.url === '/health/live') return void response.end();
    requests += 1;
    const how = respond(server);
    if (how === 'hang up') request.socket.destroy();
    else if (how === 'respond') response.end('served');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  opened.push({ [Symbol.asyncDispose]: close });
  return { origin, requests: () => requests, close };
}

function replicasOf(...origins: readonly string[]) {
  const replicas = openHttpReplicas(origins);
  const policy = createCallPolicy('gateway-orders', edges['gateway-orders'], logger, replicas);
  opened.push(replicas, { [Symbol.asyncDispose]: async () => policy[Symbol.dispose]() });
  const send = (method: 'GET' | 'POST' = 'POST') =>
    policy.execute({ idempotent: method === 'GET' }, ({ replica, signal }) =>
      sendTo(replica, { method, path: '/orders', headers: {}, body: null }, signal),
    );
  return { check: (signal: AbortSignal) => checkAny(replicas, signal), policy, send };
}

describe('replicas', () => {
  it('are asked in turn', async () => {
    const [one, other] = [await aServer(), await aServer()];
    const replicas = replicasOf(one.origin, other.origin);
    for (let call = 0; call < 6; call += 1) await replicas.send();
    expect([one.requests(), other.requests()]).toEqual([3, 3]);
  });

  it('one that refuses connections is passed over, also for a POST', async () => {
    const [stopped, running] = [await aServer(), await aServer()];
    await stopped.close();
    const replicas = replicasOf(stopped.origin, running.origin);
    for (let call = 0; call < 4; call += 1) expect((await replicas.send()).statusCode).toBe(200);
    expect(running.requests()).toBe(4);
  });

  it('one that hangs up may have taken the order: no other is asked', async () => {
    const [broken, running] = [await aServer(() => 'hang up'), await aServer()];
    const replicas = replicasOf(broken.origin, running.origin);
    await expect(replicas.send()).rejects.toMatchObject({ cause: expect.any(ConnectionLostError) });
    expect([broken.requests(), running.requests()]).toEqual([1, 0]);
  });

  it('one that hangs up does not end a GET: another is asked', async () => {
    const [broken, running] = [await aServer(() => 'hang up'), await aServer()];
    const replicas = replicasOf(broken.origin, running.origin);
    expect((await replicas.send('GET')).statusCode).toBe(200);
    expect([broken.requests(), running.requests()]).toEqual([1, 1]);
  });

  it('one that crashes fails what was in flight on it, and nothing else', async () => {
    const held: Server[] = [];
    const closing = await aServer((server) => {
      held.push(server);
      if (held.length === 16) void closing.close();
      return 'hold';
    });
    const running = await aServer();
    const replicas = replicasOf(closing.origin, running.origin);
    const inFlight = await Promise.allSettled(Array.from({ length: 32 }, () => replicas.send()));
    expect(inFlight.filter(({ status }) => status === 'rejected')).toHaveLength(16);
    expect(replicas.policy.state).toBe('closed');
    for (let call = 0; call < 32; call += 1) expect((await replicas.send()).statusCode).toBe(200);
  });

  it('reject when all refuse, and say that nothing was taken', async () => {
    const stopped = await aServer();
    await stopped.close();
    await expect(replicasOf(stopped.origin).send()).rejects.toMatchObject({
      reason: 'failure',
      cause: { message: 'there was no connection' },
    });
  });

  it('are ready while one of them is alive', async () => {
    const [stopped, running] = [await aServer(), await aServer()];
    await stopped.close();
    await expect(replicasOf(stopped.origin, running.origin).check(AbortSignal.timeout(2_000))).resolves.toBeUndefined();
    await running.close();
    await expect(replicasOf(stopped.origin, running.origin).check(AbortSignal.timeout(2_000))).rejects.toThrow();
  });
});
