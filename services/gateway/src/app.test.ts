/** Through real sockets on loopback: a fake orders service behind the whole gateway. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type EdgeLimits, edges } from '@shop/kit/edges.ts';
import { type Failpoint, ForcedResponseError, ReplyDroppedError } from '@shop/kit/failpoints.ts';
import { createHealth } from '@shop/kit/health.ts';
import { openHttpReplicas } from '@shop/kit/http-replica.ts';
import type { EdgeUpstreams } from '@shop/kit/live-upstreams.ts';
import { type LoadShedding, openLoadShedding } from '@shop/kit/load-shedding.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { ProblemError } from '@shop/kit/problems.ts';
import { createCallPolicy } from '@shop/kit/resilience.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { someUpstreams } from '../../../test/support/upstreams.ts';
import { createApp } from './app.ts';
import { createForwarder } from './forwarder.ts';
import { checkAny } from './replicas.ts';

const logger = createLogger({ service: 'gateway', instance: 'gateway-test', level: 'silent' });
const order = { customer: 'Olena', lines: [{ productId: 1, quantity: 1 }] };
const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Respond = (seen: Seen, response: ServerResponse) => void;
const confirms: Respond = (_seen, response) =>
  response.writeHead(201, { 'content-type': 'application/json', location: '/orders/1' }).end('{"status":"Confirmed"}');

/** A fake orders service with these responses, which records its requests. */
async function anOrdersService(respond: Respond = confirms) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    if (request.url === '/health/live') return response.end('{}');
    const { method, url, headers } = request;
    const one = { method, url, headers, body: await text(request) };
    seen.push(one);
    return respond(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  opened.push(close);
  return { seen, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

async function aGateway(
  respond?: Respond,
  changes: Partial<EdgeLimits> = {},
  failpoint: Failpoint<'gateway'> = async () => undefined,
  shedding = openLoadShedding(undefined, logger),
  upstreams?: EdgeUpstreams,
) {
  const orders = await anOrdersService(respond);
  const limits = { ...edges['gateway-orders'], ...changes };
  const replicas = openHttpReplicas([orders.origin], upstreams);
  const policy = createCallPolicy('gateway-orders', limits, logger, replicas);
  const budgetMs = limits.callTimeoutMs;
  const server = createApp({
    forward: createForwarder({ policy, budgetMs, logger, failpoint }),
    shedding,
    budgetMs,
    health: createHealth({ orders: (signal) => checkAny(replicas, signal) }),
    logger,
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  opened.push(async () => {
    await server.close();
    policy[Symbol.dispose]();
    await replicas[Symbol.asyncDispose]();
  });
  const send = (path: string, init?: RequestInit) => fetch(address + path, init);
  const post = (body: string = JSON.stringify(order), headers: Record<string, string> = {}) =>
    send('/api/orders', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  return { orders, policy, send, post, port: Number(new URL(address).port) };
}

/** Sends these bytes and gives all that comes back: clients normalise what this must not. */
async function raw(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(request);
  return text(socket);
}

describe('an order', () => {
  it('reaches orders byte for byte, and its response comes back', async () => {
    const { orders, post } = await aGateway();
    const body = '{ "customer":"Олена",  "lines" : [] , "broken';
    const response = await post(body, { 'idempotency-key': 'key-1' });
    expect(response.status).toBe(201);
    expect(await response.text()).toBe('{"status":"Confirmed"}');
    expect(response.headers.get('location')).toBe('/api/orders/1');
    expect(orders.seen).toMatchObject([{ method: 'POST', url: '/orders', body }]);
    expect(orders.seen[0]?.headers).toMatchObject({ 'idempotency-key': 'key-1', 'content-type': 'application/json' });
  });

  it('is shown with its query', async () => {
    const { orders, send } = await aGateway((_seen, response) => response.end('{}'));
    expect((await send('/api/orders/1?verbose=1')).status).toBe(200);
    expect(orders.seen).toMatchObject([{ method: 'GET', url: '/orders/1?verbose=1', body: '' }]);
  });

  it('of version 2 reaches orders as one of version 1, without fields that an old replica would refuse', async () => {
    const { orders, send } = await aGateway();
    const response = await send('/api/v2/orders', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'key-1' },
      body: JSON.stringify({ ...order, giftNote: 'x', lines: [{ productId: 1, quantity: 1, engraving: 'y' }] }),
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe('/api/v2/orders/1');
    expect(await response.text()).toBe('{"status":"Confirmed"}');
    expect(orders.seen).toMatchObject([{ method: 'POST', url: '/orders', body: JSON.stringify(order) }]);
    expect(orders.seen[0]?.headers).toMatchObject({ 'idempotency-key': 'key-1', 'content-type': 'application/json' });
  });

  it('is shown by version 2 with its amounts and their currency, and by version 1 as orders says it', async () => {
    const body = '{"id":"1","total":90000,"currency":"UAH","lines":[{"productId":1,"quantity":2,"price":45000}]}';
    const { orders, send } = await aGateway((_seen, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    );
    expect(await (await send('/api/v2/orders/1')).json()).toEqual({
      id: '1',
      total: { amount: 90_000, currency: 'UAH' },
      lines: [{ productId: 1, quantity: 2, unitPrice: 45_000 }],
    });
    expect(await (await send('/api/orders/1')).text()).toBe(body);
    expect(orders.seen.map(({ url }) => url)).toEqual(['/orders/1', '/orders/1']);
  });

  it('carries the budget, never more than the gateway has', async () => {
    const { orders, post } = await aGateway();
    for (const given of ['1200', '99999999', '-5', 'soon']) await post('{}', { 'shop-timeout-ms': given });
    await post('{}');
    const budgets = orders.seen.map(({ headers }) => Number(headers['shop-timeout-ms']));
    expect(budgets).toEqual([1_200, 9_500, 9_500, 9_500, 9_500]);
  });

  it('leaves behind what only concerns the gateway', async () => {
    const { orders, port } = await aGateway();
    await raw(
      port,
      'GET /api/orders/1 HTTP/1.1\r\nHost: shop\r\nConnection: close, x-secret\r\nX-Secret: 1\r\nTE: trailers\r\n' +
        'X-Forwarded-For: 10.0.0.1\r\nX-Forwarded-Host: evil\r\nTraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n' +
        'Tracestate: a=b\r\nBaggage: c=d\r\nCookie: e=f\r\n\r\n',
    );
    const names = Object.keys(orders.seen[0]?.headers ?? {});
    expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(x-|te$|trace|baggage|cookie)/)]));
    expect(orders.seen[0]?.headers.host).not.toBe('shop');
  });

  it('is shown to a client that sends a body with GET, without that body', async () => {
    const { orders, port } = await aGateway((_seen, response) => response.end('{}'));
    const response = await raw(
      port,
      'GET /api/orders/1 HTTP/1.1\r\nHost: shop\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello',
    );
    expect(response).toMatch(/^HTTP\/1\.1 200 /);
    expect(orders.seen).toMatchObject([{ method: 'GET', url: '/orders/1', body: '' }]);
    expect(orders.seen[0]?.headers['content-length']).toBeUndefined();
  });

  it('has a type and a length at orders, where the client gave neither', async () => {
    const { orders, port } = await aGateway();
    await raw(
      port,
      'POST /api/orders HTTP/1.1\r\nHost: shop\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    );
    expect(orders.seen).toMatchObject([
      { body: '{}', headers: { 'content-type': 'application/octet-stream', 'content-length': '2' } },
    ]);
  });

  it('comes back with a problem of orders unchanged', async () => {
    const problem = JSON.stringify({ code: 'catalog_unavailable', status: 503 });
    const { send, policy } = await aGateway((_seen, response) =>
      response.writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '2' }).end(problem),
    );
    for (let call = 0; call < 8; call += 1) {
      const response = await send('/api/orders/1');
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('2');
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(await response.text()).toBe(problem);
    }
    expect(policy.state).toBe('closed');
  });
});

it('an order and its repetitions reach one track: they have one Idempotency-Key', async () => {
  const [stable, canary] = [await anOrdersService(), await anOrdersService()];
  const { edge: upstreams, set } = someUpstreams();
  set({ address: new URL(stable.origin).host }, { address: new URL(canary.origin).host, track: 'canary' });
  const { post } = await aGateway(undefined, {}, undefined, undefined, upstreams);
  for (let order = 0; order < 20; order += 1) {
    const before = stable.seen.length;
    for (let repetition = 0; repetition < 3; repetition += 1) await post('{}', { 'idempotency-key': `key-${order}` });
    expect((stable.seen.length - before) % 3).toBe(0);
  }
  expect(stable.seen.length).toBeGreaterThan(0);
  expect(canary.seen.length).toBeGreaterThan(0);
});

it('an order may name the track that is to serve it: orders gets the name', async () => {
  const { orders, post } = await aGateway();
  await post('{}', { 'x-shop-track': 'green', 'x-shop-tracks': 'green' });
  expect(orders.seen[0]?.headers['x-shop-track']).toBe('green');
  expect(orders.seen[0]?.headers['x-shop-tracks']).toBeUndefined();
});

describe('what never reaches orders', () => {
  it('a body above 64 KiB', async () => {
    const { orders, post } = await aGateway();
    const response = await post('x'.repeat(64 * 1024 + 1));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'payload_too_large' });
    expect((await post('x'.repeat(64 * 1024))).status).toBe(201);
    expect(orders.seen).toHaveLength(1);
  });

  it.each([
    ['/api/orders', 'POST', ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'QUERY']],
    ['/api/orders/1', 'GET', ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'QUERY']],
  ])('a method that %s does not take; it takes %s', async (path, allow, methods) => {
    const { orders, send } = await aGateway();
    for (const method of methods) {
      const response = await send(path, { method, ...(method === 'QUERY' && { body: '{"broken' }) });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe(allow);
    }
    expect(orders.seen).toEqual([]);
  });

  it.each(['idempotency-key', 'Idempotency-Key', 'x, content-type ,y', 'shop-timeout-ms'])(
    'a header for orders that Connection would remove: %s',
    async (named) => {
      const { orders, port } = await aGateway();
      const response = await raw(
        port,
        `POST /api/orders HTTP/1.1\r\nHost: shop\r\nConnection: close, ${named}\r\nIdempotency-Key: key-1\r\n` +
          'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
      );
      expect(response).toMatch(/^HTTP\/1\.1 400 .*"code":"malformed_request"/s);
      expect(orders.seen).toEqual([]);
    },
  );

  it('a request whose time is over when it comes: nothing was sent, and the problem says so', async () => {
    const { orders, post } = await aGateway();
    const response = await post('{}', { 'shop-timeout-ms': '0' });
    expect(await response.json()).toMatchObject({
      status: 504,
      code: 'no_time_left',
      detail: expect.stringContaining('nothing was sent'),
    });
    expect(orders.seen).toEqual([]);
  });

  it.each([
    '/orders',
    '/api/orders/../health/ready',
    '/api/orders/..%2fhealth/ready',
    '/api/orders/%2e%2e/health',
    '/api/orders//health',
    '//api/orders',
    '/api%2forders',
    '/api/%6frders',
    '/api/orders/x%2fy',
    '/api/orders/x%',
    '/api/orders/%ff',
    'http://127.0.0.1:1/api/orders',
    'http://evil.example/api/orders/1',
  ])('the target %s', async (target) => {
    const { orders, port } = await aGateway();
    const response = await raw(port, `GET ${target} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n`);
    expect(response).toMatch(/^HTTP\/1\.1 404 /);
    expect(response).toContain('"code":"route_not_found"');
    expect(orders.seen).toEqual([]);
  });
});

describe('orders unavailable', () => {
  it('stopped -> 503 orders_unreachable, immediately with an open breaker, and not ready', async () => {
    const { orders, post, send, policy } = await aGateway(confirms, { breakerFailingMs: 1 });
    expect((await send('/health/ready')).status).toBe(200);
    await orders.close();
    for (let call = 0; call < 6; call += 1) {
      const response = await post();
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('2');
      expect(await response.json()).toMatchObject({ code: 'orders_unreachable' });
    }
    expect(policy.state).toBe('open');
    const readiness = await send('/health/ready');
    expect(readiness.status).toBe(503);
    expect(await readiness.json()).toMatchObject({ dependencies: [{ name: 'orders', status: 'down' }] });
    expect((await send('/health/live')).status).toBe(200);
  });

  it('hanging up -> 504 orders_timeout for an order, which may have been taken, sent once', async () => {
    const { orders, post } = await aGateway((_seen, response) => response.destroy());
    expect(await (await post()).json()).toMatchObject({ code: 'orders_timeout', status: 504 });
    expect(orders.seen).toHaveLength(1);
  });

  it('slow -> 504 orders_timeout', async () => {
    const { post, policy } = await aGateway(() => undefined, {
      attemptTimeoutMs: 100,
      callTimeoutMs: 100,
      breakerFailingMs: 1,
    });
    for (let call = 0; call < 5; call += 1) {
      expect(await (await post()).json()).toMatchObject({ code: 'orders_timeout', status: 504 });
    }
    expect(policy.state).toBe('open');
  });

  it('slower than impatient clients want -> 504 for them, and the breaker stays closed for all others', async () => {
    const { post, policy } = await aGateway(() => undefined);
    for (let call = 0; call < 6; call += 1) {
      const response = await post('{}', { 'shop-timeout-ms': '20' });
      expect(await response.json()).toMatchObject({ code: 'orders_timeout', status: 504 });
    }
    expect(policy.state).toBe('closed');
  });

  it('more requests than places -> 503 overloaded', async () => {
    const held: ServerResponse[] = [];
    const { orders, post } = await aGateway((_seen, response) => held.push(response), { bulkhead: 1 });
    const first = post();
    await expect.poll(() => orders.seen.length).toBe(1);
    const others = [post(), post()];
    const refused = await Promise.race(others);
    expect(await refused.json()).toMatchObject({ code: 'overloaded', status: 503 });
    held[0]?.writeHead(201).end('{}');
    await expect.poll(() => held.length).toBe(2);
    held[1]?.writeHead(201).end('{}');
    expect((await first).status).toBe(201);
    expect((await Promise.all(others)).map(({ status }) => status).sort()).toEqual([201, 503]);
  });
});

describe('orders that are shed', () => {
  const shedsAll = (): LoadShedding => ({
    admit() {
      throw new ProblemError('order_shed', 'only a part');
    },
    [Symbol.dispose]: () => undefined,
  });
  /** Records the keys that were admitted, and those that were not taken after all. */
  function recording() {
    const admitted: (string | undefined)[] = [];
    const forgotten: (string | undefined)[] = [];
    const shedding: LoadShedding = {
      admit(key) {
        admitted.push(key);
        return () => void forgotten.push(key);
      },
      [Symbol.dispose]: () => undefined,
    };
    return { admitted, forgotten, shedding };
  }

  it('-> 503 order_shed with Retry-After, and orders sees nothing of them; what was placed can be read', async () => {
    const { orders, post, send } = await aGateway(confirms, {}, undefined, shedsAll());
    const response = await post();
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30']);
    expect(await response.json()).toMatchObject({ type: 'urn:shop:problem:order_shed', code: 'order_shed' });
    expect((await send('/api/orders/1')).status).toBe(201);
    expect(orders.seen.map(({ method }) => method)).toEqual(['GET']);
  });

  it('are chosen by their Idempotency-Key, where they have one', async () => {
    const { admitted, forgotten, shedding } = recording();
    const { post } = await aGateway(confirms, {}, undefined, shedding);
    await post(undefined, { 'idempotency-key': 'key-1' });
    await post();
    expect(admitted).toEqual(['key-1', undefined]);
    expect(forgotten).toEqual([]);
  });

  it('may be those that orders could not take, once their clients repeat them', async () => {
    const { forgotten, shedding } = recording();
    const busy: Respond = (_seen, response) => response.writeHead(503).end('{}');
    const { post, orders } = await aGateway(busy, {}, undefined, shedding);
    await post(undefined, { 'idempotency-key': 'busy' });
    await orders.close();
    await post(undefined, { 'idempotency-key': 'unreachable' });
    expect(forgotten).toEqual(['busy', 'unreachable']);
  });

  it('are none of those that orders may have taken, whatever their clients see', async () => {
    const { admitted, forgotten, shedding } = recording();
    const { post } = await aGateway(
      () => undefined,
      { attemptTimeoutMs: 100, callTimeoutMs: 100 },
      undefined,
      shedding,
    );
    expect((await post(undefined, { 'idempotency-key': 'slow' })).status).toBe(504);
    expect([admitted, forgotten]).toEqual([['slow'], []]);
  });
});

describe('a client that leaves', () => {
  it('does not disturb the gateway', async () => {
    const held: ServerResponse[] = [];
    const { orders, send, port } = await aGateway((seen, response) =>
      seen.url === '/orders/slow' ? held.push(response) : response.end('{}'),
    );
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /api/orders/slow HTTP/1.1\r\nHost: shop\r\n\r\n');
    await expect.poll(() => orders.seen.length).toBe(1);
    socket.destroy();
    held[0]?.end('{}');
    expect((await send('/api/orders/1')).status).toBe(200);
  });
});

describe('a failpoint', () => {
  it('before a request is forwarded responds in place of orders', async () => {
    const failAt = async (place: string) => {
      if (place === 'request-received:unforwarded') throw new ForcedResponseError(place, 503);
    };
    const { orders, post } = await aGateway(confirms, {}, failAt);
    const response = await post();
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      status: 503,
      detail: 'failpoint request-received:unforwarded responds 503',
    });
    expect(orders.seen).toEqual([]);
  });

  it('after the response of orders loses it: the connection ends without a byte', async () => {
    const failAt = async (place: string) => {
      if (place === 'response-received:unforwarded') throw new ReplyDroppedError(place);
    };
    const { orders, port } = await aGateway(confirms, {}, failAt);
    const request =
      'POST /api/orders HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
    expect(await raw(port, request)).toBe('');
    expect(orders.seen).toHaveLength(1);
  });
});

describe('GET /openapi.json', () => {
  it('documents the public API as OpenAPI 3.1', async () => {
    const { send } = await aGateway();
    const document = (await (await send('/openapi.json')).json()) as { openapi: string; paths: object };
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths)).toEqual([
      '/api/orders',
      '/api/orders/{id}',
      '/api/v2/orders',
      '/api/v2/orders/{id}',
    ]);
  });
});
