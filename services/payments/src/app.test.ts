import { createHealth } from '@shop/kit/health.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { describe, expect, it } from 'vitest';
import { createApp } from './app.ts';
import type { Charge, ChargeResult } from './payment.ts';
import type { Payments } from './payments.ts';

const orderId = '0198c9a0-0000-7000-8000-0000000000aa';
const body = { orderId, amount: 45_000, currency: 'UAH', idempotencyKey: `${orderId}:charge` };
const logger = createLogger({ service: 'payments', instance: 'payments-test', level: 'silent' });

/** Payments that give `result` to every charge, and remember the charges. */
async function aServer(result: ChargeResult) {
  const charges: Charge[] = [];
  const payments: Payments = {
    async charge(charge) {
      charges.push(charge);
      return result;
    },
    refund: async (id) => ({ orderId: id, state: 'refunded', chargeKey: 'k', amount: 1, currency: 'UAH' }),
    find: async () => undefined,
  };
  const server = createApp({ payments, health: createHealth({}), logger });
  return {
    charges,
    server,
    post: (payload: unknown) => server.inject({ method: 'POST', url: '/payments', payload: payload as object }),
  };
}

describe('POST /payments', () => {
  it.each([
    ['the first accepted charge', { outcome: 'accepted', first: true }, 201],
    ['a repeat of it', { outcome: 'accepted', first: false }, 200],
  ] as const)('responds with %s', async (_title, result, status) => {
    const response = await (await aServer(result)).post(body);
    expect(response.statusCode).toBe(status);
    expect(response.json()).toEqual({ orderId, status: 'accepted' });
  });

  it.each([
    [{ outcome: 'declined', first: true }, 402, 'payment_declined'],
    [{ outcome: 'declined', first: false }, 402, 'payment_declined'],
    [{ outcome: 'voided' }, 409, 'charge_voided'],
    [{ outcome: 'key reused', detail: 'another amount' }, 422, 'idempotency_key_reused'],
  ] as const)('responds to %j with %d %s', async (result, status, code) => {
    const response = await (await aServer(result)).post(body);
    expect(response.statusCode).toBe(status);
    expect(response.headers['content-type']).toContain('application/problem+json');
    expect(response.json()).toMatchObject({ status, code });
  });

  it('takes an order id in capitals for the same order', async () => {
    const server = await aServer({ outcome: 'accepted', first: true });
    await server.post({ ...body, orderId: orderId.toUpperCase() });
    expect(server.charges).toMatchObject([{ orderId }]);
  });

  it('lets unknown fields of a newer caller pass', async () => {
    const response = await (await aServer({ outcome: 'accepted', first: true })).post({ ...body, note: 'x' });
    expect(response.statusCode).toBe(201);
  });

  it.each([
    ['no amount', { ...body, amount: undefined }],
    ['amount 0', { ...body, amount: 0 }],
    ['a negative amount', { ...body, amount: -1 }],
    ['a fraction', { ...body, amount: 0.5 }],
    ['an amount as text', { ...body, amount: '45000' }],
    ['an amount beyond exact integers', { ...body, amount: 2 ** 53 }],
    ['another currency', { ...body, currency: 'EUR' }],
    ['an order id that is not a GUID', { ...body, orderId: 'order-1' }],
    ['an empty key', { ...body, idempotencyKey: '' }],
    ['an endless key', { ...body, idempotencyKey: 'k'.repeat(201) }],
    ['NUL in the key', { ...body, idempotencyKey: 'a\u0000b' }],
    ['a lone surrogate in the key', { ...body, idempotencyKey: '\ud800' }],
  ])('refuses %s and charges nothing', async (_title, payload) => {
    const server = await aServer({ outcome: 'accepted', first: true });
    const response = await server.post(payload);
    expect(response.json()).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(server.charges).toEqual([]);
  });
});

describe('other routes', () => {
  it('refunds with the state of the payment', async () => {
    const { server } = await aServer({ outcome: 'voided' });
    const response = await server.inject({
      method: 'POST',
      url: `/payments/${orderId}/refund`,
      payload: { idempotencyKey: `${orderId}:refund` },
    });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({ orderId, status: 'refunded' });
  });

  it.each(['a\u0000b', '\udbff'])('refuses a refund whose key is %j', async (idempotencyKey) => {
    const { server } = await aServer({ outcome: 'voided' });
    const response = await server.inject({
      method: 'POST',
      url: `/payments/${orderId}/refund`,
      payload: { idempotencyKey },
    });
    expect(response.json()).toMatchObject({ code: 'invalid_request', errors: [{ pointer: '#/idempotencyKey' }] });
  });

  it('does not find the payment of an unknown order', async () => {
    const { server } = await aServer({ outcome: 'voided' });
    const response = await server.inject({ method: 'GET', url: `/payments/${orderId}` });
    expect(response.json()).toMatchObject({ status: 404, code: 'payment_not_found' });
  });

  it('describes itself as OpenAPI 3.1', async () => {
    const { server } = await aServer({ outcome: 'voided' });
    const document = (await server.inject({ method: 'GET', url: '/openapi.json' })).json();
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths)).toEqual(['/payments', '/payments/{orderId}/refund', '/payments/{orderId}']);
  });
});
