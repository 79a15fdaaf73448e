import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TransientError } from './failures.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';

let server: Server;
let client: HttpClient;
let asked: PromiseWithResolvers<void>;
let requests: number;

beforeEach(async () => {
  asked = Promise.withResolvers();
  requests = 0;
  server = createServer((request, response) => {
    requests += 1;
    asked.resolve();
    if (request.url === '/answered') response.setHeader('content-type', 'application/json').end('{"id":1}');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  client = createHttpClient('orders-payments', [`http://127.0.0.1:${(server.address() as AddressInfo).port}`]);
});

afterEach(async () => {
  await client[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('an attempt', () => {
  it('gives the answer that came in time', async () => {
    const attempt = { signal: new AbortController().signal, timeoutMs: 1_000, number: 1 };
    expect(await client.send({ method: 'GET', path: '/answered' }, attempt)).toEqual({ status: 200, body: { id: 1 } });
  });

  it('whose time is over fails as a timeout, which a span shows as an error, and not as an abort', async () => {
    const time = new AbortController();
    const sent = client.send({ method: 'GET', path: '/silent' }, { signal: time.signal, timeoutMs: 50, number: 1 });
    await asked.promise;
    time.abort();
    const error = await sent.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(TransientError);
    expect((error as TransientError).cause).toMatchObject({ name: 'TimeoutError' });
  });

  it('whose time was over before it began is not sent', async () => {
    const attempt = { signal: AbortSignal.abort(), timeoutMs: 50, number: 1 };
    await expect(client.send({ method: 'GET', path: '/silent' }, attempt)).rejects.toBeInstanceOf(TransientError);
    expect(requests).toBe(0);
  });
});
