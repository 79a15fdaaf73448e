import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SpanKind } from '@opentelemetry/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpClient } from '../http-client.ts';
import type { HttpReplica } from '../http-replica.ts';
import type { Placed } from '../replica-picker.ts';
import { seen, seeTelemetry } from './testing.ts';

const telemetry = seeTelemetry();
const received: (string | undefined)[] = [];
let server: Server;
let port: number;
let client: HttpClient;

beforeAll(async () => {
  server = createServer((request, response) => {
    received.push(request.headers.traceparent as string | undefined);
    const status = Number(/^\/status\/(\d+)/.exec(request.url ?? '')?.[1]);
    if (request.url === '/lost') request.socket.destroy();
    else if (request.url !== '/silent') response.writeHead(status || 200).end('{}');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  client = createHttpClient('orders-payments', [`http://127.0.0.1:${port}`]);
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const send = (path: string, signal = new AbortController().signal) =>
  client.send(
    { method: 'GET', path },
    { signal, timeoutMs: 5_000, number: 1, ...(client.replicas.all[0] as Placed<HttpReplica>) },
  );

describe('a call', () => {
  it('has a span of its method, without the query, and hands its trace context on', async () => {
    await telemetry.inParent(() => send('/orders/1?name=Oksana'));
    const [span] = telemetry.spans();
    expect(span && seen(span)).toEqual({
      name: 'GET',
      kind: SpanKind.CLIENT,
      error: false,
      attributes: {
        'http.request.method': 'GET',
        'url.scheme': 'http',
        'url.full': `http://127.0.0.1:${port}/orders/1`,
        'url.path': '/orders/1',
        'server.address': '127.0.0.1',
        'server.port': port,
        'http.response.status_code': 200,
      },
    });
    expect(received.at(-1)).toContain(span?.spanContext().spanId);
  });

  it('counts in the series of its server, method and status', async () => {
    await telemetry.inParent(() => send('/status/204'));
    expect(await telemetry.durations('http.client.request.duration')).toContainEqual({
      attributes: {
        'http.request.method': 'GET',
        'url.scheme': 'http',
        'server.address': '127.0.0.1',
        'server.port': port,
        'http.response.status_code': 204,
      },
      count: 1,
    });
  });

  it.each([402, 503])('status %i is an error', async (status) => {
    await telemetry.inParent(() => send(`/status/${status}`).catch(() => undefined));
    expect(telemetry.spans().map(seen)).toMatchObject([
      { error: true, attributes: { 'http.response.status_code': status, 'error.type': String(status) } },
    ]);
  });

  it('whose connection is lost is an error', async () => {
    await expect(telemetry.inParent(() => send('/lost'))).rejects.toThrow('the call failed');
    expect(telemetry.spans().map(seen)).toMatchObject([
      { error: true, attributes: { 'error.type': 'UND_ERR_SOCKET' } },
    ]);
    const [event] = telemetry.spans()[0]?.events ?? [];
    expect(event).toMatchObject({ name: 'exception', attributes: { 'exception.type': 'SocketError' } });
    expect(event?.attributes?.['exception.stacktrace']).toMatch(/^SocketError: .*\n {4}at /);
  });

  it('whose time is over is an error', async () => {
    await expect(telemetry.inParent(() => send('/silent', AbortSignal.timeout(50)))).rejects.toThrow('the call failed');
    expect(telemetry.spans().map(seen)).toMatchObject([{ error: true, attributes: { 'error.type': 'TimeoutError' } }]);
  });

  it('that no request caused is not traced', async () => {
    await send('/status/200');
    expect(received.at(-1)).toBeUndefined();
    expect(telemetry.spans()).toEqual([]);
  });
});
