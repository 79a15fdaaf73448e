/*
 * Goal: whatever a client sends, it gets a problem that says what is wrong, and the shop is as if it had never come.
 * Method: a real platform; after every case the rows of all five databases are counted. At the end the services' logs
 * must have no error, and a good order must be confirmed.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { type ClientResponse, look, place, type RequestOptions, send } from './support/client.ts';
import { countRows, untilDrained } from './support/ledger.ts';
import { type RawResponse, sendRaw } from './support/raw.ts';

let platform: TestPlatform;
let before: Readonly<Record<string, number>>;

beforeAll(async () => {
  platform = await startPlatform({ project: 'e2e-bad-input' });
  await place(platform);
  await untilDrained(platform);
  before = await countRows(platform);
});

afterAll(() => platform?.stop());

afterEach(async () => {
  const expected = before;
  // What one test has recorded is not held against the next.
  before = await countRows(platform);
  expect(before, 'rows recorded').toEqual(expected);
});

const json = { 'content-type': 'application/json' };
const aLine = { productId: 1, quantity: 1 };
const anOrder = { customer: 'Olena', lines: [aLine] };

function post(body: string | Uint8Array, headers: Readonly<Record<string, string>> = json): Promise<ClientResponse> {
  return send(`${platform.gatewayUrl}/api/orders`, { method: 'POST', headers, body });
}

const postOrder = (order: unknown) => post(JSON.stringify(order));
const withLine = (line: object) => ({ ...anOrder, lines: [{ ...aLine, ...line }] });
const withCustomer = (customer: unknown) => ({ ...anOrder, customer });

/** Fails unless the response is a whole problem with this status and code. */
function expectProblem(response: ClientResponse, status: number, code: string): void {
  expect(response, response.text).toMatchObject({ status, body: { status, code, type: `urn:shop:problem:${code}` } });
  expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(response.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(response.body).toMatchObject({
    traceId: response.traceId,
    title: expect.any(String),
    detail: expect.any(String),
  });
  expectNothingInternal(response.text);
}

function expectNothingInternal(text: string): void {
  expect(text).not.toMatch(/127\.0\.0\.1|localhost|at .+:\d+:\d+|SELECT |INSERT |node_modules|ECONN/);
}

describe('a body that is not JSON', () => {
  it.each([
    ['cut off', '{"customer":"Olena","lines":[{"productId":1,'],
    ['with a trailing comma', '{"customer":"Olena","lines":[],}'],
    ['of two values', '{} {}'],
    ['empty', ''],
    ['of spaces', '   '],
    ['that is a bare word', 'order please'],
    ['with a byte that is not UTF-8 outside of a string', Buffer.from([0x7b, 0xff, 0x7d])],
    ['with a control character in a string', '{"customer":"a\nb","lines":[]}'],
    ['with bytes that are not UTF-8 in a string', Buffer.from('{"customer":"a\xff\xfe","lines":[]}', 'latin1')],
    ['nested 20,000 deep', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ])('%s', async (name, body) => {
    const response = await post(body);
    // A deep nest is valid JSON of the wrong shape.
    if (name.startsWith('nested')) expectProblem(response, 400, 'invalid_request');
    else expectProblem(response, 400, 'malformed_json');
  });
});

describe('a body that does not fit', () => {
  it.each<[string, unknown, string]>([
    ['null', null, '#'],
    ['an array', [anOrder], '#'],
    ['a string', 'order', '#'],
    ['a number', 7, '#'],
    ['without a customer', { lines: [aLine] }, '#/customer'],
    ['without lines', { customer: 'Olena' }, '#/lines'],
    ['with lines that are an object', { ...anOrder, lines: aLine }, '#/lines'],
    ['without a line', { ...anOrder, lines: [] }, '#/lines'],
    ['with 101 lines', { ...anOrder, lines: Array.from({ length: 101 }, () => aLine) }, '#/lines'],
    ['with a line that is null', { ...anOrder, lines: [null] }, '#/lines/0'],
    ['with an unknown field', { ...anOrder, coupon: 'FREE' }, '#/coupon'],
    ['with an unknown field of a line', withLine({ price: 1 }), '#/lines/0/price'],
    ['with a separate status', { ...anOrder, status: 'Confirmed' }, '#/status'],
    ['with a product id that is a string', withLine({ productId: '1' }), '#/lines/0/productId'],
    ['with a product id that is 0', withLine({ productId: 0 }), '#/lines/0/productId'],
    ['with a product id that is negative', withLine({ productId: -1 }), '#/lines/0/productId'],
    ['with a product id that is a fraction', withLine({ productId: 1.5 }), '#/lines/0/productId'],
    ['with a product id above 32 bits', withLine({ productId: 2 ** 31 }), '#/lines/0/productId'],
    ['with a quantity that is a string', withLine({ quantity: '1' }), '#/lines/0/quantity'],
    ['with a quantity that is true', withLine({ quantity: true }), '#/lines/0/quantity'],
    ['with a quantity that is null', withLine({ quantity: null }), '#/lines/0/quantity'],
    ['with a quantity that is an array', withLine({ quantity: [1] }), '#/lines/0/quantity'],
    ['with a quantity of 0', withLine({ quantity: 0 }), '#/lines/0/quantity'],
    ['with a negative quantity', withLine({ quantity: -1 }), '#/lines/0/quantity'],
    ['with a fractional quantity', withLine({ quantity: 0.5 }), '#/lines/0/quantity'],
    ['with a quantity of 1,001', withLine({ quantity: 1_001 }), '#/lines/0/quantity'],
    ['with a huge quantity', withLine({ quantity: 1e308 }), '#/lines/0/quantity'],
    ['with a customer that is a number', withCustomer(5), '#/customer'],
    ['with a customer that is an object', withCustomer({ $ne: null }), '#/customer'],
    ['with an empty customer', withCustomer(''), '#/customer'],
    ['with a customer of spaces', withCustomer('   '), '#/customer'],
    ['with a customer of 201 characters', withCustomer('x'.repeat(201)), '#/customer'],
    ['that sets __proto__', JSON.parse('{"__proto__":{"polluted":true},"lines":[]}'), '#/__proto__'],
    ['that sets constructor', { ...anOrder, constructor: { prototype: { polluted: true } } }, '#/constructor'],
    ['with NUL in the customer', withCustomer('a\u0000b'), '#/customer'],
    ['with a control character in the customer', withCustomer('a\u001b[31mb'), '#/customer'],
    ['with a line break in the customer', withCustomer('a\r\nSet-Cookie: b'), '#/customer'],
    ['with DEL in the customer', withCustomer('a\u007f'), '#/customer'],
  ])('%s', async (_name, order, pointer) => {
    const response = await postOrder(order);
    expectProblem(response, 400, 'invalid_request');
    expect(response.body?.errors).toContainEqual({ pointer, detail: expect.any(String) });
  });

  it('with a lone surrogate in the customer', async () => {
    for (const text of ['\\ud800', '\\udc00', 'a\\ud83dz']) {
      expectProblem(
        await post(`{"customer":"${text}","lines":[{"productId":1,"quantity":1}]}`),
        400,
        'invalid_request',
      );
    }
  });

  it('with a number that JSON cannot hold', async () => {
    for (const number of ['1e400', '-1e400', '9007199254740993', '1e21']) {
      expectProblem(
        await post(`{"customer":"x","lines":[{"productId":1,"quantity":${number}}]}`),
        400,
        'invalid_request',
      );
    }
    expectProblem(await post('{"customer":"x","lines":[{"productId":1,"quantity":NaN}]}'), 400, 'malformed_json');
  });

  it('with lines of one product that sum to more than 1,000', async () => {
    const lines = [
      { productId: 1, quantity: 600 },
      { productId: 1, quantity: 401 },
    ];
    const response = await postOrder({ ...anOrder, lines });
    expectProblem(response, 400, 'invalid_request');
    expect(response.body?.errors).toHaveLength(2);
  });

  it('names every wrong field, and repeats no value', async () => {
    const secret = 'Olena-Marker-7312';
    const response = await postOrder({
      customer: `${secret}\u0000`,
      lines: [{ productId: 'x', quantity: 0, note: secret }],
    });
    expectProblem(response, 400, 'invalid_request');
    const errors = response.body?.errors as readonly { pointer: string }[] | undefined;
    const pointers = errors?.map(({ pointer }) => pointer);
    expect(pointers).toEqual(
      expect.arrayContaining(['#/customer', '#/lines/0/productId', '#/lines/0/quantity', '#/lines/0/note']),
    );
    expect(response.text).not.toContain(secret);
  });
});

describe('an order that cannot be', () => {
  it('of an unknown product', async () => {
    const response = await postOrder(withLine({ productId: 13 }));
    expectProblem(response, 422, 'unknown_product');
    expect(response.body?.detail).toContain('13');
  });

  it('of a hundred unknown products', async () => {
    const lines = Array.from({ length: 100 }, (_, index) => ({ productId: 1_000 + index, quantity: 1 }));
    expectProblem(await postOrder({ ...anOrder, lines }), 422, 'unknown_product');
  });

  it('of a known and an unknown product', async () => {
    const lines = [aLine, { productId: 2_147_483_647, quantity: 1 }];
    expectProblem(await postOrder({ ...anOrder, lines }), 422, 'unknown_product');
  });
});

describe('a body that is too large', () => {
  it('of 1 MiB', async () => {
    expectProblem(await postOrder(withCustomer('x'.repeat(2 ** 20))), 413, 'payload_too_large');
  });

  it('of 64 KiB and one byte', async () => {
    const order = JSON.stringify(anOrder);
    expectProblem(await post(order.padEnd(64 * 1024 + 1)), 413, 'payload_too_large');
  });

  it('whose Content-Length promises a gigabyte', async () => {
    const response = await raw(
      `POST /api/orders HTTP/1.1\r\nHost: shop\r\n${JSON_TYPE}Content-Length: 1073741824\r\n\r\n{}`,
    );
    expectRawProblem(response, 413, 'payload_too_large');
  });

  it('whose chunks never end', async () => {
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    const response = await raw(`POST /api/orders HTTP/1.1\r\nHost: shop\r\n${JSON_TYPE}${CHUNKED}`, chunk.repeat(8));
    expectRawProblem(response, 413, 'payload_too_large');
  });
});

describe('another media type', () => {
  it.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/xml'],
    ['application/json-patch+json'],
    ['not a media type'],
    ['application/jsonx'],
  ])('%s', async (type) => {
    expectProblem(await post(JSON.stringify(anOrder), { 'content-type': type }), 415, 'unsupported_media_type');
  });

  it('none at all', async () => {
    expectProblem(await post(JSON.stringify(anOrder), {}), 415, 'unsupported_media_type');
  });
});

describe('an expectation or a coding that is not known', () => {
  it('Expect: frob', async () => {
    const response = await raw('GET /api/orders/x HTTP/1.1\r\nHost: shop\r\nConnection: close\r\nExpect: frob\r\n\r\n');
    expectRawProblem(response, 417, 'expectation_failed');
  });

  it('Content-Encoding: gzip', async () => {
    const response = await post(JSON.stringify(anOrder), { ...json, 'content-encoding': 'gzip' });
    expectProblem(response, 415, 'unsupported_content_encoding');
  });
});

describe('an Idempotency-Key', () => {
  it.each([
    ['of spaces in between', 'a b'],
    ['of 256 characters', 'k'.repeat(256)],
    ['empty', ''],
    ['not ASCII', 'ключ'],
  ])('%s', async (_name, key) => {
    const response = await post(JSON.stringify(anOrder), {
      ...json,
      'idempotency-key': Buffer.from(key).toString('latin1'),
    });
    expectProblem(response, 400, 'invalid_request');
  });

  it('that Connection names', async () => {
    const body = JSON.stringify(anOrder);
    const head = `POST /api/orders HTTP/1.1\r\nHost: shop\r\nConnection: close, idempotency-key\r\n${JSON_TYPE}Idempotency-Key: a\r\n`;
    expectRawProblem(await raw(`${head}Content-Length: ${body.length}\r\n\r\n${body}`), 400, 'malformed_request');
  });

  it('sent twice', async () => {
    const body = JSON.stringify(anOrder);
    const head = `POST /api/orders HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n${JSON_TYPE}Idempotency-Key: a\r\nIdempotency-Key: b\r\n`;
    expectRawProblem(await raw(`${head}Content-Length: ${body.length}\r\n\r\n${body}`), 400, 'invalid_request');
  });
});

describe('a path or method that is not there', () => {
  it.each([
    ['/'],
    ['/orders'],
    ['/api'],
    ['/api/order'],
    ['/api/ordersx'],
    ['/products/1'],
    ['/payments'],
    ['/api/payments'],
    ['/api/orders/../../payments'],
    ['/api/orders/..%2f..%2fhealth/ready'],
    ['/api/orders/%2e%2e/%2e%2e/payments'],
    ['/api/orders/..;/..;/payments'],
    ['/api/orders//evil.example/'],
    ['//evil.example/api/orders'],
    ['/api/orders\\..\\payments'],
    ['/api/orders/%00'],
    ['/api/orders/%'],
    ['/api/orders/%ff%fe'],
    ['/%61pi/orders'],
    [`/api/orders/${'x'.repeat(4_000)}`],
  ])('%.60s', async (path) => {
    for (const method of ['GET', 'POST']) {
      const body = method === 'GET' ? '' : `${JSON_TYPE}Content-Length: 2\r\n`;
      const response = await raw(
        `${method} ${path} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n${body}\r\n${method === 'GET' ? '' : '{}'}`,
      );
      expect(response.text).toMatch(/^HTTP\/1\.1 404 /);
      expect(JSON.parse(response.body)).toMatchObject({
        status: 404,
        traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
    }
  });

  it('an absolute target or an authority does not leave the shop', async () => {
    const ask = (line: string) => raw(`${line} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n`);
    expectRawProblem(await ask('CONNECT evil.example:443'), 405, 'method_not_allowed');
    for (const target of ['http://127.0.0.1:1/api/orders/x', 'http://evil.example/orders']) {
      expectRawProblem(await ask(`GET ${target}`), 404, 'route_not_found');
    }
  });

  it.each(['PUT', 'PATCH', 'DELETE'] as const)('%s', async (method) => {
    const options: RequestOptions = { method, headers: json, body: JSON.stringify(anOrder) };
    const response = await send(`${platform.gatewayUrl}/api/orders`, options);
    expectProblem(response, 405, 'method_not_allowed');
    expect(response.headers.allow).toBe('POST');
  });

  it.each([
    ['is not a UUID', 'abc'],
    ['is SQL', `'%20OR%20'1'='1`],
    ['is unknown', '00000000-0000-4000-8000-000000000000'],
    ['is too long', 'a'.repeat(400)],
  ])('an order whose id %s', async (_name, id) => {
    const { status, body } = await look(platform, id);
    expect(status).toBe(404);
    expect(['order_not_found', 'route_not_found']).toContain(body?.code);
  });
});

const JSON_TYPE = 'Content-Type: application/json\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n';

const raw = (...parts: string[]) => sendRaw(platform.gatewayUrl, parts);
const rawHalf = (...parts: string[]) => sendRaw(platform.gatewayUrl, parts, { end: true });

/** What never became a request has no span; its trace id may be missing, everything else not. */
function expectRawProblem(response: RawResponse, status: number, code: string): void {
  expect(response.status, response.text).toBe(status);
  expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(JSON.parse(response.body)).toMatchObject({
    status,
    code,
    type: `urn:shop:problem:${code}`,
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  expectNothingInternal(response.text);
}

describe('a request that does not arrive whole', () => {
  const head = `POST /api/orders HTTP/1.1\r\nHost: shop\r\n${JSON_TYPE}`;

  // The gateway waits 5 s for the rest; concurrently, because each of them would wait as long.
  it.concurrent('half a body and then silence -> 408', { timeout: 20_000 }, async () => {
    expectRawProblem(await raw(`${head}Content-Length: 200\r\n\r\n{"customer":"Ole`), 408, 'request_timeout');
  });

  it.concurrent('half the headers and then silence -> 408', { timeout: 20_000 }, async () => {
    expectRawProblem(await raw('POST /api/orders HTTP/1.1\r\nHost: sh'), 408, 'request_timeout');
  });

  it.concurrent('a connection opened long before its first request is kept for it', { timeout: 20_000 }, async () => {
    const request = 'GET /api/orders/x HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n';
    const response = await sendRaw(platform.gatewayUrl, [request], { silentMs: 7_000 });
    expectRawProblem(response, 404, 'order_not_found');
  });

  it('half a body and then the end', async () => {
    const { status } = await rawHalf(`${head}Content-Length: 200\r\n\r\n{"customer":"Ole`);
    expect([undefined, 400]).toContain(status);
  });

  it('a client that hangs up in mid-body leaves nothing behind', async () => {
    const parts = [`${head}Content-Length: 200\r\n\r\n`, '{"customer":'];
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => sendRaw(platform.gatewayUrl, parts, { end: true })),
    );
    expect(responses).toHaveLength(20);
  });

  it('a body shorter than it says, with the next request behind it, is read as one body', async () => {
    const response = await raw(
      `${head}Connection: close\r\nContent-Length: 30\r\n\r\n{}GET /api/orders/x HTTP/1.1\r\n\r\n`,
    );
    expectRawProblem(response, 400, 'malformed_json');
  });
});

describe('broken HTTP', () => {
  const head = `POST /api/orders HTTP/1.1\r\nHost: shop\r\n${JSON_TYPE}`;

  it.each([
    ['a chunk size that is not a number', `${head}${CHUNKED}zz\r\n{}\r\n0\r\n\r\n`],
    ['a chunk longer than its size', `${head}${CHUNKED}1\r\n{}{}\r\n0\r\n\r\n`],
    ['both Content-Length and chunks', `${head}Content-Length: 2\r\n${CHUNKED}0\r\n\r\n`],
    ['two different Content-Lengths', `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x`],
    ['a negative Content-Length', `${head}Content-Length: -1\r\n\r\n{}`],
    ['a Content-Length that is not a number', `${head}Content-Length: two\r\n\r\n{}`],
    ['another transfer coding', `${head}Transfer-Encoding: gzip\r\n\r\n{}`],
    ['a header without a colon', `POST /api/orders HTTP/1.1\r\nHost: shop\r\nnonsense\r\n\r\n`],
    ['a space before the colon', `POST /api/orders HTTP/1.1\r\nHost : shop\r\n\r\n`],
    ['NUL in a header', `GET /api/orders/x HTTP/1.1\r\nHost: shop\r\nX: a\u0000b\r\n\r\n`],
    ['two Hosts', 'GET /api/orders/x HTTP/1.1\r\nHost: shop\r\nHost: other\r\n\r\n'],
    ['no Host', 'GET /api/orders/x HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['garbage', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    ['a line of the wrong order', 'HTTP/1.1 POST /api/orders\r\n\r\n'],
    ['another protocol version', 'GET /api/orders/x HTTP/3.0\r\nHost: shop\r\n\r\n'],
  ])('%s', async (_name, request) => {
    const response = await raw(request);
    expectRawProblem(response, 400, 'malformed_request');
  });

  it('headers of more than 16 KiB', async () => {
    const response = await raw(`GET /api/orders/x HTTP/1.1\r\nHost: shop\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`);
    expectRawProblem(response, 431, 'headers_too_large');
  });

  it('three thousand headers', async () => {
    const headers = Array.from({ length: 3_000 }, (_, index) => `X-${index}: ${index}`).join('\r\n');
    expectRawProblem(
      await raw(`GET /api/orders/x HTTP/1.1\r\nHost: shop\r\n${headers}\r\n\r\n`),
      431,
      'headers_too_large',
    );
  });

  it('garbage behind a good request: the first gets its response, the rest is refused', async () => {
    const id = '00000000-0000-4000-8000-000000000000';
    const response = await raw(`GET /api/orders/${id} HTTP/1.1\r\nHost: shop\r\n\r\n\u0000\u0001garbage\r\n\r\n`);
    expect(response.text.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 400']);
  });

  it('an upgrade to another protocol is not made', async () => {
    const response = await rawHalf(
      'GET /api/orders/x HTTP/1.1\r\nHost: shop\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n\r\n',
    );
    expect(response.status).not.toBe(101);
  });

  it('headers that mean something inside the shop are not passed on', async () => {
    const id = '00000000-0000-4000-8000-000000000000';
    const headers = {
      'shop-timeout-ms': '-1',
      traceparent: '00-zz-zz-zz',
      'x-forwarded-for': "'; DROP TABLE orders;--",
    };
    expectProblem(await send(`${platform.gatewayUrl}/api/orders/${id}`, { headers }), 404, 'order_not_found');
  });
});

describe('afterwards', () => {
  afterEach(async () => {
    // These orders are good ones.
    await untilDrained(platform);
    before = await countRows(platform);
  });

  it.each([
    ['SQL', `Robert'); DROP TABLE orders;--`],
    ['right-to-left text', 'אולנה \u202eevil\u202c'],
    ['200 characters outside the basic plane', '😀'.repeat(100)],
    ['markup', '<script>alert(1)</script>'],
    ['a template', '#{7*7} {{7*7}} %s %n'],
    ['200 characters', 'й'.repeat(200)],
  ])('a customer of %s is taken and kept as it is', async (_name, customer) => {
    const response = await postOrder(withCustomer(customer));
    expect(response, response.text).toMatchObject({ status: 201, body: { status: 'Confirmed' } });
    const [row] = await platform.query<{ customer: string }>('orders', 'SELECT customer FROM orders WHERE id = $1', [
      response.body?.id,
    ]);
    expect(row?.customer).toBe(customer);
  });

  it('the largest total that the limits allow is counted exactly, and declined', async () => {
    const lines = Array.from({ length: 9 }, (_, index) => ({ productId: index < 8 ? index + 1 : 12, quantity: 1_000 }));
    const response = await postOrder({ ...anOrder, lines });
    expect(response.body).toMatchObject({ status: 'Cancelled', reason: 'payment declined' });
    const [row] = await platform.query<{ total: string }>(
      'orders',
      'SELECT total_kopiykas AS total FROM orders WHERE id = $1',
      [response.body?.id],
    );
    const prices = [45_000, 18_500, 26_000, 38_000, 125_000, 289_000, 92_000, 340_000, 7_250_000];
    expect(row?.total).toBe(String(prices.reduce((sum, price) => sum + price * 1_000, 0)));
  });

  it('a good order is confirmed', async () => {
    expect(await place(platform)).toMatchObject({ status: 201, body: { status: 'Confirmed' } });
  });

  it('no service has logged an error, and none has restarted', async () => {
    const errors = (await platform.logs()).filter(({ level }) => level === 'error' || level === 'fatal');
    expect(errors).toEqual([]);
    const { instances } = await platform.state();
    expect(instances.filter(({ restarts }) => restarts > 0)).toEqual([]);
  });
});
