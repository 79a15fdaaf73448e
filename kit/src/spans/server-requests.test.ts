/** Through real sockets: when a body has arrived, and that a client has left, are events of the socket. */
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { context, propagation, SpanKind } from '@opentelemetry/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHealth } from '../health.ts';
import { createLogger } from '../logger.ts';
import { createServer, type HttpServer } from '../server.ts';
import { currentTraceId, inSpan } from '../tracing.ts';
import { CALLER, seen, seeTelemetry, TRACE_ID } from './testing.ts';

const telemetry = seeTelemetry();
const logger = createLogger({ service: 'test', instance: 'test-1', level: 'silent' });
const silent = Promise.withResolvers<void>();
let server: HttpServer;
let port: number;

beforeAll(async () => {
  server = createServer({ logger, health: createHealth({}) });
  server.get('/products/:id', { config: { otelRoute: '/products/{id:int}' } }, async () => ({}));
  server.post('/orders', async () => inSpan('order saga', {}, async () => ({ traceId: currentTraceId() })));
  server.get('/broken', async () => {
    throw new Error('Oksana');
  });
  server.get('/silent', async () => {
    silent.resolve();
    return new Promise<never>(() => undefined);
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  port = (server.server.address() as AddressInfo).port;
});

afterAll(() => server.close());

const ask = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);
const post = (body: string, headers: Record<string, string> = {}) =>
  ask('/orders', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
/** GET requests that wait for a response. */
const active = async () =>
  (await telemetry.values('http.server.active_requests')).find(
    ({ attributes }) => attributes['http.request.method'] === 'GET',
  )?.value;
/** A span ends with the response's last byte, which the client may have a moment earlier. */
const ended = (count: number) => expect.poll(() => telemetry.spans().length).toBe(count);

describe('a request', () => {
  it('has a span named after its route, without the query', async () => {
    await ask('/products/7?name=Oksana', { headers: { 'user-agent': 'test' } });
    await ended(1);
    expect(telemetry.spans().map(seen)).toEqual([
      {
        name: 'GET /products/{id:int}',
        kind: SpanKind.SERVER,
        error: false,
        attributes: {
          'http.request.method': 'GET',
          'url.scheme': 'http',
          'url.path': '/products/7',
          'network.protocol.version': '1.1',
          'server.address': '127.0.0.1',
          'server.port': port,
          'client.address': '127.0.0.1',
          'network.peer.address': '127.0.0.1',
          'network.peer.port': expect.any(Number),
          'user_agent.original': 'test',
          'http.route': '/products/{id:int}',
          'http.response.status_code': 200,
        },
      },
    ]);
  });

  it('is active until its response has ended, in the series of its method alone; health checks are not', async () => {
    await ask('/products/7');
    await ask('/health/live');
    await ended(1);
    const series = (await telemetry.values('http.server.active_requests')).map(({ attributes }) => attributes);
    expect(series).toContainEqual({ 'http.request.method': 'GET', 'url.scheme': 'http' });
    await expect.poll(active).toBe(0);
  });

  it('counts in the series of its route and status', async () => {
    await ask('/nowhere');
    await ended(1);
    expect(await telemetry.durations('http.server.request.duration')).toContainEqual({
      attributes: {
        'http.request.method': 'GET',
        'url.scheme': 'http',
        'network.protocol.version': '1.1',
        'http.response.status_code': 404,
      },
      count: 1,
    });
  });

  it('is a child of its caller’s span, and the parent of its work, also when its body comes later', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `POST /orders HTTP/1.1\r\nHost: shop\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\nTraceparent: ${CALLER}\r\n\r\n`,
    );
    await expect.poll(() => server.server.listenerCount('request')).toBeGreaterThan(0);
    socket.write('{');
    await new Promise((resolve) => setImmediate(resolve));
    socket.write('}');
    expect(await text(socket)).toContain(TRACE_ID);
    await ended(2);
    const [saga, request] = telemetry.spans();
    expect(request?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
    expect(saga?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
  });

  it.each([
    ['a malformed caller', '00-xyz'],
    ['no caller', undefined],
  ])('of %s begins a trace, whose context is in the response', async (_what, traceparent) => {
    const response = await post('{}', traceparent === undefined ? {} : { traceparent });
    await ended(2);
    const request = telemetry.spans()[1];
    expect(request?.parentSpanContext).toBeUndefined();
    expect(response.headers.get('traceparent')).toBe(
      `00-${request?.spanContext().traceId}-${request?.spanContext().spanId}-01`,
    );
  });

  it('of a caller that is not sampled has no spans', async () => {
    await post('{}', { traceparent: CALLER.replace(/01$/, '00') });
    await post('{}');
    await ended(2);
    expect(telemetry.spans().every((span) => span.spanContext().traceId !== TRACE_ID)).toBe(true);
  });

  it('with a body that cannot be read gets a response with its trace id', async () => {
    const response = await post('{"broken');
    await ended(1);
    expect(await response.json()).toMatchObject({ traceId: telemetry.spans()[0]?.spanContext().traceId });
    expect(telemetry.spans()[0]).toMatchObject({ name: 'POST /orders', status: { code: 0 } });
  });

  it('that fails here is an error, without a word of the failure', async () => {
    await ask('/broken');
    await ended(1);
    expect(telemetry.spans().map(seen)).toMatchObject([
      { error: true, attributes: { 'http.response.status_code': 500, 'error.type': '500' } },
    ]);
    expect(JSON.stringify(telemetry.spans().map(seen))).not.toContain('Oksana');
  });

  it('whose client leaves has a span, which ends then and has no status', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /silent HTTP/1.1\r\nHost: shop\r\n\r\n');
    await silent.promise;
    expect(telemetry.spans()).toEqual([]);
    expect(await active()).toBe(1);
    socket.destroy();
    await ended(1);
    expect(await active()).toBe(0);
    expect(telemetry.spans()[0]?.attributes).not.toHaveProperty('http.response.status_code');
  });

  describe('on a public server', () => {
    const inside = async (headers: Record<string, string>, probePath?: string) => {
      const logger = createLogger({ service: 'test', instance: 'test-1', level: 'silent' });
      await using edge = createServer({
        logger,
        health: createHealth({}),
        isPublic: true,
        ...(probePath && { probePath }),
      });
      edge.get('/', async () => {
        const passedOn: Record<string, string> = {};
        propagation.inject(context.active(), passedOn);
        return passedOn;
      });
      const address = await edge.listen({ host: '127.0.0.1', port: 0 });
      return (await fetch(address, { headers })).json() as Promise<Record<string, string>>;
    };

    it('keeps the trace id of its caller, and passes on nothing else that the caller said', async () => {
      const passedOn = await inside({ traceparent: CALLER, tracestate: 'a=b', baggage: 'secret=1' });
      expect(Object.keys(passedOn)).toEqual(['traceparent']);
      expect(passedOn.traceparent).toContain(TRACE_ID);
    });

    it('is recorded also when its caller is not sampled', async () => {
      const passedOn = await inside({ traceparent: CALLER.replace(/01$/, '00') });
      expect(passedOn.traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`));
    });

    it('to the path of the probe is recorded only when its caller is sampled, who says nothing else', async () => {
      const headers = { traceparent: CALLER.replace(/01$/, '00'), tracestate: 'a=b', baggage: 'secret=1' };
      const passedOn = await inside(headers, '/');
      expect(Object.keys(passedOn)).toEqual(['traceparent']);
      expect(passedOn.traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-00$`));
      expect(telemetry.spans()).toEqual([]);
      expect((await inside({ traceparent: CALLER }, '/')).traceparent).toMatch(/-01$/);
    });
  });

  it('for health is not traced', async () => {
    const response = await ask('/health/live');
    await ask('/products/1');
    await ended(1);
    expect(response.headers.get('traceparent')).toBeNull();
    expect(telemetry.spans()).toMatchObject([{ name: 'GET /products/{id:int}' }]);
  });
});
