import { describe, expect, it } from 'vitest';
import { toVersionOne, toVersionTwo } from './version-two.ts';

const headers = { 'content-type': 'application/json' };
const request = (body: Buffer | null) => ({ method: 'POST' as const, path: '/orders', headers, body });
const asOrders = (body: string) => {
  const translated = toVersionOne(request(Buffer.from(body)));
  return { body: String(translated.body), length: translated.headers['content-length'] };
};

describe('a request', () => {
  it('has no field that version 1 does not have, and its length', () => {
    const body = {
      customer: 'Оля',
      giftNote: 'Вітаю',
      lines: [{ productId: 1, quantity: 2, engraving: 'O' }],
      __proto__: null,
    };
    const expected = '{"customer":"Оля","lines":[{"productId":1,"quantity":2}]}';
    expect(asOrders(JSON.stringify(body))).toEqual({
      body: expected,
      length: String(Buffer.byteLength(expected)),
    });
  });

  it.each([
    ['{"customer":1}', '{"customer":1}'],
    ['{"lines":"none"}', '{"lines":"none"}'],
    ['{"lines":[7,null,[],{"quantity":0}]}', '{"lines":[7,null,[],{"quantity":0}]}'],
    ['{"__proto__":{"customer":"x"},"toString":1}', '{}'],
    ['{"customer":"\\ud800"}', '{"customer":"\\ud800"}'],
  ])('keeps what is wrong in what version 1 has: %s', (body, expected) => {
    expect(asOrders(body).body).toBe(expected);
  });

  it.each(['', '[]', 'null', '"order"', '{"customer":', `{"customer":${'['.repeat(20_000)}${']'.repeat(20_000)}}`])(
    'that is not an order is passed on as it is: %.20s',
    (body) => {
      expect(asOrders(body).body).toBe(body);
    },
  );

  it('that is not UTF-8, or has no body, is passed on as it is', () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x7d]);
    expect(toVersionOne(request(bytes))).toEqual(request(bytes));
    expect(toVersionOne(request(null))).toEqual(request(null));
  });
});

describe('a response', () => {
  const response = (statusCode: number, body: object, more = headers) => ({
    statusCode,
    headers: more,
    body: Buffer.from(JSON.stringify(body)),
  });
  const shown = {
    id: 'a',
    status: 'Confirmed',
    total: 90_000,
    currency: 'UAH',
    lines: [{ productId: 1, quantity: 2, price: 45_000 }],
    createdAt: '2026-11-24T08:00:00.000Z',
  };

  it.each([200, 202])('has amounts with their currency (%i)', (statusCode) => {
    const translated = toVersionTwo(response(statusCode, { ...shown, placedBy: 'a later release of orders' }));
    expect(JSON.parse(translated.body.toString())).toEqual({
      id: 'a',
      status: 'Confirmed',
      total: { amount: 90_000, currency: 'UAH' },
      lines: [{ productId: 1, quantity: 2, unitPrice: 45_000 }],
      createdAt: '2026-11-24T08:00:00.000Z',
      placedBy: 'a later release of orders',
    });
  });

  it.each([
    ['of a placed order', response(201, { id: 'a', status: 'Confirmed' })],
    ['that is a problem', response(404, shown, { 'content-type': 'application/problem+json' })],
    ['that is not JSON', response(200, shown, { 'content-type': 'text/plain' })],
    ['that is not an object', response(200, [shown])],
  ])('%s is the same in both', (_, same) => {
    expect(toVersionTwo(same)).toBe(same);
  });
});
