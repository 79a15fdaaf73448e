import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createHealth } from './health.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import type { HttpReplica } from './http-replica.ts';
import { createLogger } from './logger.ts';
import type { Placed } from './replica-picker.ts';
import type { Attempt } from './resilience.ts';
import { createServer, REQUESTS_PER_CONNECTION } from './server.ts';

it('ends a connection after a number of requests, and loses none of them', { timeout: 60_000 }, async () => {
  const logger = createLogger({ service: 'test', instance: 'test-1', level: 'silent' });
  await using server = createServer({ logger, health: createHealth({}) });
  let connections = 0;
  server.server.on('connection', () => {
    connections++;
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  await using client = createHttpClient('test-server', [`http://127.0.0.1:${port}`]);

  const attempt = attemptAt(client);
  for (let request = 0; request < 2 * REQUESTS_PER_CONNECTION + 1; request++) {
    const { status } = await client.send({ method: 'GET', path: '/health/live' }, attempt);
    expect(status).toBe(200);
  }
  expect(connections).toBe(3);
});

it('responds to an error of a handler with a problem that says nothing of its stack or its message', async () => {
  const logger = createLogger({ service: 'test', instance: 'test-1', level: 'silent' });
  await using server = createServer({ logger, health: createHealth({}) });
  server.get('/fails', async () => {
    throw new Error('SELECT secret FROM accounts');
  });
  const response = await server.inject('/fails');
  expect(response.statusCode).toBe(500);
  expect(response.json()).toEqual({
    type: 'urn:shop:problem:internal_error',
    title: 'The service failed',
    status: 500,
    detail: expect.any(String),
    code: 'internal_error',
  });
  expect(response.body).not.toMatch(/secret|\.ts|\.mjs|\bat /);
});

/** The first attempt of a call. */
function attemptAt({ replicas }: HttpClient): Attempt<HttpReplica> {
  const { replica } = replicas.all[0] as Placed<HttpReplica>;
  return { signal: new AbortController().signal, timeoutMs: 5_000, number: 1, replica };
}

describe('a server that closes', () => {
  async function aServer() {
    const logger = createLogger({ service: 'test', instance: 'test-1', level: 'silent' });
    const server = createServer({ logger, health: createHealth({}) });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const asked = vi.fn();
    server.get('/slow', async () => {
      asked();
      await released;
      return { status: 'done' };
    });
    await server.listen({ host: '127.0.0.1', port: 0 });
    const { port } = server.server.address() as AddressInfo;
    return { server, port, asked, release };
  }

  const LIMIT_MS = 2_000;

  it('closes once it has responded on a kept connection, and marks that response as the last', async () => {
    const { server, port, asked, release } = await aServer();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /health/live HTTP/1.1\r\nHost: test\r\n\r\n');
    await once(socket, 'data');
    socket.write('GET /slow HTTP/1.1\r\nHost: test\r\n\r\n');
    await expect.poll(() => asked.mock.calls.length).toBe(1);
    const received = text(socket);
    const closed = server.close().then(() => 'closed');
    await expect.poll(() => server.server.listening).toBe(false);
    release();
    expect(await Promise.race([closed, delay(LIMIT_MS, 'open', { ref: false })])).toBe('closed');
    expect(await received).toMatch(/^HTTP\/1.1 200 .*connection: close.*"done"/is);
  });

  it('does not wait until a client of ours closes its connection', async () => {
    const { server, port, asked, release } = await aServer();
    await using client = createHttpClient('test-server', [`http://127.0.0.1:${port}`]);
    const attempt = attemptAt(client);
    const done = client.send({ method: 'GET', path: '/slow' }, attempt);
    await expect.poll(() => asked.mock.calls.length).toBe(1);
    const closed = server.close().then(() => 'closed');
    await expect.poll(() => server.server.listening).toBe(false);
    release();
    expect((await done).status).toBe(200);
    expect(await Promise.race([closed, delay(LIMIT_MS, 'open', { ref: false })])).toBe('closed');
  });
});

describe('a late request', () => {
  const TIMEOUT_MS = 100;
  const head = 'GET /health/live HTTP/1.1\r\nHost: test\r\nConnection: close\r\n';

  async function aServer(options: { keepAliveTimeoutMs?: number } = {}) {
    const logger = createLogger({ service: 'test', instance: 'test-1', level: 'silent' });
    const server = createServer({ logger, health: createHealth({}), requestTimeoutMs: TIMEOUT_MS, ...options });
    await server.listen({ host: '127.0.0.1', port: 0 });
    const { port } = server.server.address() as AddressInfo;
    /** A connection's two ends. */
    const client = async (): Promise<readonly [Socket, Socket]> => {
      const accepted = once(server.server, 'connection');
      const socket = connect(port, '127.0.0.1');
      return [socket, (await accepted)[0] as Socket];
    };
    return { client, late: () => once(server.server, 'clientError'), [Symbol.asyncDispose]: () => server.close() };
  }

  it('is rejected', async () => {
    await using server = await aServer();
    const [socket] = await server.client();
    socket.write(head);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 408 .*"code":"request_timeout"/s);
  });

  it('is served when it had arrived, but this process did not read it', async () => {
    await using server = await aServer();
    const [socket, accepted] = await server.client();
    socket.write(head);
    await expect.poll(() => accepted.bytesRead).toBe(head.length);
    const response = text(socket);
    // Timers come next, and reading only after them.
    setImmediate(() => {
      socket.write('\r\n');
      standStill(3 * TIMEOUT_MS);
    });
    expect(await response).toMatch(/^HTTP\/1.1 200 /);
  });

  it('is served on a connection that was opened long before', async () => {
    await using server = await aServer();
    const [socket] = await server.client();
    const response = text(socket);
    await server.late();
    expect(await Promise.race([response, delay(500, 'nothing yet')])).toBe('nothing yet');
    socket.write(`${head}\r\n`);
    expect(await response).toMatch(/^HTTP\/1.1 200 /);
  });

  it('has its time from its first byte on, on a connection that was opened long before', async () => {
    await using server = await aServer();
    const [socket] = await server.client();
    await server.late();
    socket.write(head);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 408 .*did not arrive within 100 ms/s);
  });

  it('is waited for no longer than between two requests: a connection without a word is closed', async () => {
    await using server = await aServer({ keepAliveTimeoutMs: 3 * TIMEOUT_MS });
    const [socket] = await server.client();
    expect(await text(socket)).toBe('');
  });

  it('is not waited for when the server closes', async () => {
    const server = await aServer();
    const [socket] = await server.client();
    const response = text(socket);
    await server[Symbol.asyncDispose]();
    expect(await response).toBe('');
  });
});

/** As when the machine is suspended, or another process has its core. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
