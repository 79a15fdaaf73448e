/** What HTTP (RFC 9110, 9112) and JSON (RFC 8259) ask of every service, byte for byte: clients normalise most of it. */
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHealth } from './health.ts';
import { createLogger } from './logger.ts';
import { createServer, type HttpServer } from './server.ts';
import { storableText } from './text.ts';

const logger = createLogger({ service: 'test', instance: 'test-1', level: 'silent' });
let server: HttpServer;

beforeAll(async () => {
  server = createServer({ logger, health: createHealth({}) });
  const name = storableText({ minLength: 1, maxLength: 20 });
  server.get('/things/:id', async ({ params }) => params);
  const strict = { body: Type.Object({ name }, { additionalProperties: false }) };
  server.post('/things', { schema: strict }, async ({ body }) => body);
  server.post('/tolerant', { schema: { body: Type.Object({ name }) } }, async ({ body }) => ({ name: body.name }));
  server.post('/things/:id/move', async () => ({}));
  await server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => server.close());

/** The whole response to these bytes. */
async function send(head: string, body: string | Buffer = ''): Promise<{ text: string; json: () => unknown }> {
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  const length = body.length === 0 ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  socket.write(`${head}\r\nConnection: close\r\n${length}\r\n`);
  socket.write(body);
  const received = await text(socket);
  return { text: received, json: () => JSON.parse(received.slice(received.indexOf('\r\n\r\n'))) };
}

const post = (body: string | Buffer, { path = '/things', headers = '' } = {}) =>
  send(`POST ${path} HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json${headers}`, body);

describe('a request that breaks a rule of HTTP is refused with a problem', () => {
  it.each([
    ['two Host headers', 'GET /things/1 HTTP/1.1\r\nHost: shop\r\nHost: other', 400, 'malformed_request'],
    ['two equal Host headers', 'GET /things/1 HTTP/1.1\r\nHost: shop\r\nhost: shop', 400, 'malformed_request'],
    ['no Host header', 'GET /things/1 HTTP/1.1', 400, 'malformed_request'],
    ['an unknown expectation', 'GET /things/1 HTTP/1.1\r\nHost: shop\r\nExpect: frob', 417, 'expectation_failed'],
    ['a tunnel', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org', 405, 'method_not_allowed'],
  ])('%s', async (_what, head, status, code) => {
    const response = await send(head);
    expect(response.text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(response.text).toMatch(/^content-type: application\/problem\+json/im);
    expect(response.json()).toMatchObject({ status, code });
  });

  it('an encoded body, which is not read', async () => {
    const response = await post('{"name":"mug"}', { headers: '\r\nContent-Encoding: gzip' });
    expect(response.json()).toMatchObject({ status: 415, code: 'unsupported_content_encoding' });
    expect(response.text).toMatch(/^accept-encoding: identity\r$/im);
  });

  it('but not one of HTTP/1.0 without Host, nor one that waits for 100 or says that its body is not encoded', async () => {
    expect((await send('GET /things/1 HTTP/1.0')).text).toMatch(/^HTTP\/1.1 200 /);
    expect((await post('{"name":"mug"}', { headers: '\r\nExpect: 100-continue' })).text).toMatch(/HTTP\/1.1 200 /);
    expect((await post('{"name":"mug"}', { headers: '\r\nContent-Encoding: identity' })).text).toMatch(
      /HTTP\/1.1 200 /,
    );
  });
});

describe('a wrong method is 405 with what the path takes, a wrong path 404', () => {
  it.each([
    ['DELETE', '/things/1', 'GET, HEAD'],
    ['OPTIONS', '/things/1?deep=1', 'GET, HEAD'],
    ['QUERY', '/things/1', 'GET, HEAD'],
    ['PROPFIND', '/things/1', 'GET, HEAD'],
    ['GET', '/things', 'POST'],
    ['OPTIONS', '/things', 'POST'],
    ['PUT', '/things/1/move', 'POST'],
    ['POST', '/health/live', 'GET, HEAD'],
  ])('%s %s', async (method, path, allow) => {
    const response = await send(
      `${method} ${path} HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json`,
      '{"broken',
    );
    expect(response.json()).toMatchObject({ status: 405, code: 'method_not_allowed' });
    expect(response.text.match(/^allow: (.*)\r$/im)?.[1]).toBe(allow);
  });

  it.each(['/', '/thing', '/things/1/', '/things/1/move/x', '/things/%2e'])('POST %s', async (path) => {
    expect((await post('{}', { path })).json()).toMatchObject({ status: 404, code: 'route_not_found' });
  });
});

describe('a body', () => {
  it.each([
    ['bytes that are not UTF-8', Buffer.from('7b226e616d65223a22ff227d', 'hex'), 'the body is not valid UTF-8'],
    ['a surrogate in UTF-8', Buffer.from('7b226e616d65223a22eda080227d', 'hex'), 'the body is not valid UTF-8'],
    ['half of it', '{"name":', 'the body is not valid JSON'],
  ])('of %s is malformed', async (_what, body, detail) => {
    expect((await post(body)).json()).toMatchObject({ status: 400, code: 'malformed_json', detail });
  });

  it.each([
    ['NUL', '"a\\u0000b"'],
    ['a high surrogate without a low one', '"\\ud800"'],
    ['a low surrogate without a high one', '"a\\udfffb"'],
  ])('with %s in a text is refused, and the field named', async (_what, name) => {
    for (const path of ['/things', '/tolerant']) {
      const problem = (await post(`{"name":${name}}`, { path })).json();
      expect(problem).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ pointer: '#/name' }] });
    }
  });

  it('with any other text comes through as it is', async () => {
    const name = '\u{1f600} \ufffd й \ue000';
    expect((await post(JSON.stringify({ name }))).json()).toEqual({ name });
    expect((await post('{"name":"\\ud83d\\ude00"}')).json()).toEqual({ name: '\u{1f600}' });
  });

  it('with __proto__ has an unknown field of that name, which pollutes nothing', async () => {
    const body = '{"name":"mug","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    expect((await post(body)).json()).toMatchObject({
      code: 'invalid_request',
      errors: expect.arrayContaining([{ pointer: '#/__proto__', detail: 'is not a known field' }]),
    });
    expect((await post(body, { path: '/tolerant' })).json()).toEqual({ name: 'mug' });
    expect({}).not.toHaveProperty('polluted');
  });
});
