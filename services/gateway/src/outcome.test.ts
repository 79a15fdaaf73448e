import { describe, expect, it } from 'vitest';
import { outcomeOf } from './outcome.ts';

const of = (method: string, statusCode: number, body: unknown = {}) =>
  outcomeOf(method, { statusCode, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) });
const cancelled = (reason: string) => of('POST', 200, { id: '1', status: 'Cancelled', reason });

describe('the outcome of an order', () => {
  it('is that of the shop, not that of HTTP', () => {
    expect(of('POST', 201, { status: 'Confirmed' })).toBe('confirmed');
    expect(cancelled('payment declined')).toBe('declined');
    expect(cancelled('out of stock')).toBe('out_of_stock');
    expect(cancelled('payment unavailable')).toBe('payment_unavailable');
    expect(cancelled('stock unavailable')).toBe('stock_unavailable');
  });

  it('is failed where it is none that the shop knows', () => {
    expect([cancelled('because'), of('POST', 200, 'broken'), of('POST', 200, 'null'), of('POST', 503)]).toEqual(
      Array.from({ length: 4 }, () => 'failed'),
    );
  });

  it('is rejected with a 4xx, except while its first request runs', () => {
    expect([400, 422, 404, 409].map((status) => of('POST', status))).toEqual([
      'rejected',
      'rejected',
      'rejected',
      'absent',
    ]);
  });

  it('that is shown is good, also where there is none', () => {
    expect([200, 202, 404, 400, 504].map((status) => of('GET', status))).toEqual([
      'ok',
      'ok',
      'absent',
      'rejected',
      'failed',
    ]);
  });
});
