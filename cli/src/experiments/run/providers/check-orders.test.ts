import { describe, expect, it } from 'vitest';
import type { OrdersTolerance } from '../../format/schema.ts';
import type { LoggedOrder, OrderResponse } from '../order-log.ts';
import type { RunContext } from '../run-context.ts';
import { checkOrders } from './check-orders.ts';

function anOrder(response: OrderResponse | undefined, more: Partial<LoggedOrder> = {}): LoggedOrder {
  return {
    op: 1,
    step: 'before',
    phase: 'fault',
    key: 'key',
    lines: [{ productId: 1, quantity: 1 }],
    invokedAt: 0,
    invokedTime: 0,
    ...(response !== undefined && { response }),
    ...more,
  };
}

const confirmed = (tookMs: number, orderId = 'a'): OrderResponse => ({
  state: 'ok',
  http: 201,
  status: 'Confirmed',
  orderId,
  tookMs,
});
const outOfStock: OrderResponse = { state: 'ok', http: 200, status: 'Cancelled', reason: 'out of stock', tookMs: 20 };
const noCatalog: OrderResponse = { state: 'fail', http: 503, code: 'catalog_unavailable', tookMs: 900 };
const timedOut: OrderResponse = { state: 'info', code: 'timeout', tookMs: 12_000 };

const check = (
  responses: readonly (OrderResponse | undefined)[],
  tolerance: OrdersTolerance,
  earlier: readonly LoggedOrder[] = [],
) => {
  const context = {
    orders: { ofStep: (step: string) => earlier.filter((order) => order.step === step) },
  } as unknown as RunContext;
  return checkOrders(
    responses.map((response) => anOrder(response)),
    tolerance,
    context,
  );
};

describe('orders', () => {
  it('hold when each is as wanted', async () => {
    const each = { response: 'Confirmed', http: 201, duration: { lte: 100 } } as const;
    expect(await check([confirmed(50), confirmed(100)], { each })).toMatchObject({ verdict: 'pass' });
  });

  it('fail when one is not, and the evidence names it', async () => {
    const result = await check([confirmed(50), outOfStock], { each: { response: 'Confirmed' } });
    expect(result).toMatchObject({ verdict: 'fail', evidence: 'order 1: Cancelled: out of stock after 20 ms' });
  });

  it('without a response have no http status that could be within a tolerance', async () => {
    expect(await check([timedOut], { each: { http: { ne: 503 } } })).toMatchObject({ verdict: 'fail' });
  });

  it('are counted by their responses', async () => {
    const responses = [confirmed(1), outOfStock, outOfStock, noCatalog, timedOut];
    const counts = {
      Confirmed: 1,
      'Cancelled: out of stock': 2,
      Cancelled: 2,
      '503': 1,
      '503 catalog_unavailable': 1,
      none: 1,
    };
    expect(await check(responses, { counts })).toMatchObject({ verdict: 'pass' });
    expect(await check(responses, { counts: { ...counts, none: 0 } })).toMatchObject({ verdict: 'fail' });
  });

  it('are compared with those of another step', async () => {
    const baseline = [anOrder(confirmed(100))];
    expect(await check([confirmed(119)], { ratio: { of: 'before', p95: { lte: 1.2 } } }, baseline)).toMatchObject({
      verdict: 'pass',
    });
    expect(await check([confirmed(130)], { ratio: { of: 'before', p95: { lte: 1.2 } } }, baseline)).toMatchObject({
      verdict: 'fail',
    });
    expect(await check([confirmed(130)], { ratio: { of: 'before', p95: { lte: 1.2 } } })).toMatchObject({
      verdict: 'unknown',
    });
  });

  it('are compared with those of several steps, taken together', async () => {
    const baseline = [anOrder(confirmed(100)), anOrder(confirmed(140), { step: 'after' })];
    const ratio = { of: ['before', 'after'], max: { lte: 1 } };
    expect(await check([confirmed(140)], { ratio }, baseline)).toMatchObject({
      verdict: 'pass',
      expected: 'max <= 1× that of "before" and "after"',
    });
    expect(await check([confirmed(141)], { ratio }, baseline)).toMatchObject({ verdict: 'fail' });
  });

  it('are compared by how much longer they took than those of another step', async () => {
    const baseline = [anOrder(confirmed(40))];
    const added = { of: 'before', p50: { gte: 500, lt: 600 } };
    expect(await check([confirmed(639)], { added }, baseline)).toMatchObject({
      verdict: 'pass',
      expected: 'p50 >= 500 ms, < 600 ms more than that of "before"',
      observed: expect.stringContaining('p50 639 ms against 40 ms (599 ms more)'),
    });
    expect(await check([confirmed(640)], { added }, baseline)).toMatchObject({ verdict: 'fail' });
    expect(await check([confirmed(539)], { added }, baseline)).toMatchObject({ verdict: 'fail' });
    expect(await check([confirmed(550)], { added })).toMatchObject({ verdict: 'unknown' });
  });

  it('must be the same ones where that is wanted', async () => {
    const earlier = [anOrder(confirmed(1, 'a'))];
    expect(await check([confirmed(1, 'a')], { 'same-ids-as': 'before' }, earlier)).toMatchObject({ verdict: 'pass' });
    expect(await check([confirmed(1, 'b')], { 'same-ids-as': 'before' }, earlier)).toMatchObject({
      verdict: 'fail',
    });
    expect(await check([confirmed(1, 'b')], { 'same-ids-as': 'before' })).toMatchObject({ verdict: 'unknown' });
  });

  it('are unknown while there are none, or one is in flight', async () => {
    expect(await check([], { counts: { Confirmed: 0 } })).toMatchObject({ verdict: 'unknown' });
    expect(await check([confirmed(1), undefined], { counts: { Confirmed: 1 } })).toMatchObject({ verdict: 'unknown' });
  });
});

it('one order cannot be the same as several', async () => {
  const earlier = [anOrder(confirmed(50, 'a')), anOrder(confirmed(50, 'b'))];
  expect(await check([confirmed(50, 'a')], { 'same-ids-as': 'before' }, earlier)).toMatchObject({
    verdict: 'unknown',
    observed: expect.stringContaining('1 orders cannot be compared with 2 one by one'),
  });
});
