/** What the gateway, and through it every client, expects of orders, recorded through the whole gateway. */
import { MatchersV3 } from '@pact-foundation/pact';
import { edges } from '@shop/kit/edges.ts';
import { createHealth } from '@shop/kit/health.ts';
import { openHttpReplicas } from '@shop/kit/http-replica.ts';
import { openLoadShedding } from '@shop/kit/load-shedding.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { createCallPolicy } from '@shop/kit/resilience.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PactRecording, recordPact, unhurried } from '../../../../test/support/pacts.ts';
import { createApp } from '../app.ts';
import { createForwarder } from '../forwarder.ts';

const { eachLike, integer, regex, string, uuid } = MatchersV3;

/** `jsonBody` adds the header in this spelling unless it is there. */
const problemType = { 'Content-Type': 'application/problem+json' };
const logger = createLogger({ service: 'gateway', instance: 'gateway-test', level: 'silent' });
const id = '0198c9a0-0000-7000-8000-000000000001';
const timestamp = regex('^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$', '2026-01-02T03:04:05.678Z');
const budget = { 'shop-timeout-ms': regex('^\\d+$', '9500') };
const lines = [{ productId: 1, quantity: 2 }];
let recording: PactRecording;

beforeAll(async () => {
  recording = await recordPact('gateway', 'orders');
});
afterAll(() => recording[Symbol.asyncDispose]());

/** A gateway in front of these orders; resolves with the response to one request. */
async function throughGateway(origin: string, path: string, init?: RequestInit): Promise<Response> {
  const limits = unhurried(edges['gateway-orders']);
  await using replicas = openHttpReplicas([origin]);
  using policy = createCallPolicy('gateway-orders', limits, logger, replicas);
  const budgetMs = limits.callTimeoutMs;
  const forward = createForwarder({ policy, budgetMs, logger, failpoint: async () => undefined });
  const server = createApp({
    forward,
    shedding: openLoadShedding(undefined, logger),
    budgetMs,
    health: createHealth({}),
    logger,
  });
  try {
    return await fetch((await server.listen({ host: '127.0.0.1', port: 0 })) + path, init);
  } finally {
    await server.close();
  }
}

const post = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
});

describe('placing an order', () => {
  it.each([
    {
      given: 'product 1 is available and can be paid',
      body: { customer: 'Olena', lines },
      status: 201,
      expected: { id: uuid(id), status: 'Confirmed' },
    },
    {
      given: 'payments decline',
      body: { customer: 'Olena', lines },
      status: 200,
      expected: { id: uuid(id), status: 'Cancelled', reason: 'payment declined' },
    },
    {
      given: 'stock is short',
      body: { customer: 'Olena', lines },
      status: 200,
      expected: { id: uuid(id), status: 'Cancelled', reason: 'out of stock' },
    },
  ])('while $given gets $status, with a path in Location', async ({ given, body, status, expected }) => {
    await recording.pact
      .addInteraction()
      .given(given)
      .uponReceiving(`an order, ${given}`)
      .withRequest('POST', '/orders', (request) => {
        request.headers({
          ...budget,
          'idempotency-key': `key: ${given}`.replaceAll(' ', '-'),
        });
        request.jsonBody(body);
      })
      .willRespondWith(status, (response) => {
        response.headers({ location: regex('^/api/orders/[0-9a-f-]{36}$', `/api/orders/${id}`) });
        response.jsonBody(expected);
      })
      .executeTest(async ({ url }) => {
        const key = { 'idempotency-key': `key: ${given}`.replaceAll(' ', '-') };
        const response = await throughGateway(url, '/api/orders', post(body, key));
        expect([response.status, response.headers.get('location')]).toEqual([status, `/api/orders/${id}`]);
      });
  });

  it.each([
    {
      given: 'product 1 is available and can be paid',
      body: { customer: '', lines },
      status: 400,
      code: 'invalid_request',
    },
    { given: 'there is no product 1', body: { customer: 'Olena', lines }, status: 422, code: 'unknown_product' },
    {
      given: 'the catalog is unavailable',
      body: { customer: 'Olena', lines },
      status: 503,
      code: 'catalog_unavailable',
    },
  ])('while $given gets $status $code', async ({ given, body, status, code }) => {
    await recording.pact
      .addInteraction()
      .given(given)
      .uponReceiving(`an order that is refused with ${code}`)
      .withRequest('POST', '/orders', (request) => {
        request.headers(budget);
        request.jsonBody(body);
      })
      .willRespondWith(status, (response) => {
        const problem = { type: `urn:shop:problem:${code}`, title: string(), status, detail: string(), code };
        response.headers(problemType);
        response.jsonBody(problem);
      })
      .executeTest(async ({ url }) => {
        const response = await throughGateway(url, '/api/orders', post(body));
        expect([response.status, await response.json()]).toMatchObject([status, { code }]);
      });
  });
});

describe('showing an order', () => {
  const shown = {
    total: integer(90_000),
    currency: 'UAH',
    lines: eachLike({ productId: integer(1), quantity: integer(2), price: integer(45_000) }),
    createdAt: timestamp,
  };

  it.each([
    { given: 'the order is confirmed', number: 1, status: 200, body: { status: 'Confirmed', ...shown } },
    {
      given: 'the order is cancelled',
      number: 2,
      status: 200,
      body: { status: 'Cancelled', reason: 'payment declined', ...shown },
    },
    { given: 'the order is being worked on', number: 3, status: 202, body: shown },
  ])('while $given gets $status', async ({ given, number, status, body }) => {
    const orderId = `0198c9a0-0000-7000-8000-00000000000${number}`;
    await recording.pact
      .addInteraction()
      .given(given, { orderId })
      .uponReceiving(`a request for an order, ${given}`)
      .withRequest('GET', `/orders/${orderId}`, (request) => void request.headers(budget))
      .willRespondWith(status, (response) => {
        if (status === 202) response.headers({ 'retry-after': regex('^\\d+$', '1') });
        response.jsonBody({ id: orderId, ...body });
      })
      .executeTest(async ({ url }) => {
        const response = await throughGateway(url, `/api/orders/${orderId}`);
        expect([response.status, await response.json()]).toMatchObject([status, { id: orderId, total: 90_000 }]);
      });
  });

  it('that does not exist gets 404', async () => {
    const unknown = '0198c9a0-0000-7000-8000-000000000009';
    await recording.pact
      .addInteraction()
      .uponReceiving('a request for an order that does not exist')
      .withRequest('GET', `/orders/${unknown}`, (request) => void request.headers(budget))
      .willRespondWith(404, (response) => {
        response.headers(problemType);
        response.jsonBody({ code: 'order_not_found' });
      })
      .executeTest(async ({ url }) => {
        expect((await throughGateway(url, `/api/orders/${unknown}`)).status).toBe(404);
      });
  });
});

it('all of it is the committed contract', () => recording.expectCommitted());
