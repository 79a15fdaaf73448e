import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NotSentError, TransientError } from './failures.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import type { HttpReplica } from './http-replica.ts';
import type { Placed } from './replica-picker.ts';

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
    if (request.url === '/large') response.end(`{"filler":"${'x'.repeat(4 * 1024 * 1024)}"}`);
    if (request.url === '/found') response.setHeader('content-type', 'application/json').end('{"id":1}');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  client = createHttpClient('orders-payments', [`http://127.0.0.1:${(server.address() as AddressInfo).port}`]);
});

afterEach(async () => {
  await client[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** One attempt at the only replica. */
function send(path: string, signal = new AbortController().signal) {
  const { replica } = client.replicas.all[0] as Placed<HttpReplica>;
  return client.send({ method: 'GET', path }, { signal, timeoutMs: 1_000, number: 1, replica });
}

describe('an attempt', () => {
  it('returns a response that arrives in time', async () => {
    expect(await send('/found')).toEqual({ status: 200, body: { id: 1 } });
  });

  it('whose time is over fails as a timeout, which a span shows as an error, and not as an abort', async () => {
    const time = new AbortController();
    const sent = send('/silent', time.signal);
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
    await expect(send('/silent', AbortSignal.abort())).rejects.toBeInstanceOf(TransientError);
    expect(requests).toBe(0);
  });

  it('aborts a response above 4 MiB', async () => {
    await expect(send('/large')).rejects.toMatchObject({ cause: { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' } });
  });

  it('that found no connection says that nothing was sent', async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(send('/found')).rejects.toBeInstanceOf(NotSentError);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  });
});
