import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createToxiproxyClient, ToxiproxyRequestError } from './toxiproxy-client.ts';

async function listen(respond: RequestListener): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(respond).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

describe('a request to Toxiproxy', () => {
  it('times out on a server that does not respond', async () => {
    const { url } = await listen(() => undefined);
    const client = createToxiproxyClient(url, { deadlineMs: 50 });
    await expect(client.version()).rejects.toMatchObject({ timedOut: true, message: expect.stringContaining('50 ms') });
  });

  it('fails without a timeout and without a status where nothing listens', async () => {
    const { url, close } = await listen(() => undefined);
    await close();
    const failure = await createToxiproxyClient(url)
      .proxies()
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToxiproxyRequestError);
    expect(failure).toMatchObject({ timedOut: false, status: undefined });
    expect((failure as Error).message).toContain('ECONNREFUSED');
  });

  it.each([
    ['{"error":"proxy not found","status":404}', 'proxy not found (404)'],
    ['no such page', 'no such page (404)'],
  ])('rejected with %s keeps status and message', async (body, message) => {
    const { url } = await listen((_, response) => response.writeHead(404).end(body));
    await expect(createToxiproxyClient(url).proxy('orders-db')).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining(message),
    });
  });

  it('to remove a toxic that does not exist is not an error; any other rejection is', async () => {
    let status = 404;
    const { url } = await listen((_, response) => response.writeHead(status).end('{"error":"no"}'));
    const client = createToxiproxyClient(url);
    await expect(client.removeToxic('orders-db', 'slow')).resolves.toBeUndefined();
    status = 500;
    await expect(client.removeToxic('orders-db', 'slow')).rejects.toMatchObject({ status: 500 });
  });
});
