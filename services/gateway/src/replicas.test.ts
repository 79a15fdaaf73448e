import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TransientError } from '@shop/kit/failures.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { createReplicas } from './replicas.ts';

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

/** A server that counts its requests; `closed` ones are gone, so that their port refuses connections. */
async function aServer(answer: (server: Server) => 'answer' | 'hang up' = () => 'answer') {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    if (answer(server) === 'hang up') request.socket.destroy();
    else response.end('served');
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

function replicasOf(origins: readonly string[], now?: () => number) {
  const replicas = createReplicas(origins, 4, now);
  opened.push(replicas);
  const send = (method = 'POST') =>
    replicas.send({ method, path: '/orders', headers: {}, body: null }, AbortSignal.timeout(5_000));
  return { ...replicas, send };
}

describe('replicas', () => {
  it('are asked in turn', async () => {
    const [one, other] = [await aServer(), await aServer()];
    const replicas = replicasOf([one.origin, other.origin]);
    for (let call = 0; call < 6; call += 1) await replicas.send();
    expect([one.requests(), other.requests()]).toEqual([3, 3]);
  });

  it('one that refuses connections is passed over, also for a POST, and asked last for a second', async () => {
    const [gone, there] = [await aServer(), await aServer()];
    await gone.close();
    let time = 0;
    const replicas = replicasOf([gone.origin, there.origin], () => time);
    for (let call = 0; call < 4; call += 1) expect((await replicas.send()).statusCode).toBe(200);
    expect(there.requests()).toBe(4);
    time = 1_001;
    expect((await replicas.send()).statusCode).toBe(200);
  });

  it('one that hangs up may have taken the order: no other is asked', async () => {
    const [broken, there] = [await aServer(() => 'hang up'), await aServer()];
    const replicas = replicasOf([broken.origin, there.origin]);
    await expect(replicas.send()).rejects.toThrow(TransientError);
    expect([broken.requests(), there.requests()]).toEqual([1, 0]);
  });

  it('one that hung up is asked last for a second, and a GET goes to another at once', async () => {
    const [broken, there] = [await aServer(() => 'hang up'), await aServer()];
    const replicas = replicasOf([broken.origin, there.origin], () => 0);
    await expect(replicas.send()).rejects.toThrow(TransientError);
    for (let call = 0; call < 3; call += 1) expect((await replicas.send()).statusCode).toBe(200);
    const fresh = replicasOf([broken.origin, there.origin]);
    expect((await fresh.send('GET')).statusCode).toBe(200);
  });

  it('reject when all refuse', async () => {
    const gone = await aServer();
    await gone.close();
    await expect(replicasOf([gone.origin]).send()).rejects.toThrow('no replica of orders could be reached');
  });

  it('are ready while one of them is alive', async () => {
    const [gone, there] = [await aServer(), await aServer()];
    await gone.close();
    await expect(replicasOf([gone.origin, there.origin]).check(AbortSignal.timeout(2_000))).resolves.toBeUndefined();
    await there.close();
    await expect(replicasOf([gone.origin, there.origin]).check(AbortSignal.timeout(2_000))).rejects.toThrow();
  });
});
