import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PlaceResponse } from '../../shop/gateway-client.ts';
import { timerClock } from '../testing/fake-shop.ts';
import { type CustomerOrder, isExpected, orderOf, RATE, startCustomers } from './customers.ts';

const decided = (status: 'Confirmed' | 'Cancelled', reason: string | null = null, tookMs = 20) =>
  ({ kind: 'decided', id: 'order-1', status, reason, httpStatus: 201, traceId: null, tookMs }) as PlaceResponse;
const problem = (code: string) => ({ kind: 'problem', problem: { code }, tookMs: 5 }) as PlaceResponse;

describe('an order', () => {
  it('follows from seed and number, and has a key for itself', () => {
    expect(orderOf('7', 12)).toEqual(orderOf('7', 12));
    const keys = Array.from({ length: 1_000 }, (_, number) => orderOf('7', number).key);
    expect(new Set(keys).size).toBe(1_000);
  });

  it('is confirmed in 85 of 100, declined in 8, out of stock in 5 and invalid in 2, within 3 sigma', () => {
    const count = 10_000;
    const kinds = Map.groupBy(
      Array.from({ length: count }, (_, number) => orderOf('7', number).kind),
      (kind) => kind,
    );
    const shares = { confirmed: 0.85, declined: 0.08, 'out of stock': 0.05, invalid: 0.02 } as const;
    for (const [kind, share] of Object.entries(shares)) {
      const sigma = Math.sqrt(count * share * (1 - share));
      const found = kinds.get(kind as CustomerOrder['kind'])?.length ?? 0;
      expect(Math.abs(found - count * share), kind).toBeLessThan(3 * sigma);
    }
  });

  it.each<[CustomerOrder['kind'], PlaceResponse, boolean]>([
    ['confirmed', decided('Confirmed'), true],
    ['confirmed', decided('Cancelled', 'payment unavailable'), false],
    ['declined', decided('Cancelled', 'payment declined'), true],
    ['declined', decided('Cancelled', 'payment unavailable'), false],
    ['declined', decided('Confirmed'), false],
    ['out of stock', decided('Cancelled', 'out of stock'), true],
    ['out of stock', decided('Confirmed'), false],
    ['invalid', problem('unknown_product'), true],
    ['invalid', problem('catalog_unavailable'), false],
    ['confirmed', problem('orders_unreachable'), false],
  ])('that should be %s, with the response %j: %s', (kind, response, expected) => {
    expect(isExpected(kind, response)).toBe(expected);
  });
});

describe('customers', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const start = (
    place: (order: CustomerOrder) => Promise<PlaceResponse>,
    onConfirmed: (id: string) => void = () => undefined,
  ) =>
    startCustomers({
      seed: '7',
      clock: timerClock,
      place,
      onResponse: ({ response, outcome }) => {
        if (outcome !== 'failed' && response.kind === 'decided' && response.status === 'Confirmed')
          onConfirmed(response.id);
      },
    });
  const never = () => new Promise<PlaceResponse>(() => undefined);

  it('place as many orders of a shop that never responds', async () => {
    const customers = start(never);
    await vi.advanceTimersByTimeAsync(9_990);
    expect(customers.take()).toEqual({ sent: 10 * RATE, good: 0, failed: 0, slow: 0 });
    expect(customers.sent()).toBe(10 * RATE);
    expect(customers.usual()).toEqual({ sent: 10 * RATE, late: 0 });
  });

  it('count those at the usual rate that were sent late, and none of a higher one', async () => {
    let now = 0;
    const at = { ...timerClock, now: () => now };
    const customers = startCustomers({ seed: '7', clock: at, place: never, onResponse: () => undefined });
    // A second in which the machine did nothing for it, at the usual rate and at another.
    now = 1_000;
    await vi.advanceTimersByTimeAsync(1_000);
    const { sent, late } = customers.usual();
    expect(late).toBeGreaterThan(0);
    customers.setLoad({ factor: 4, repeats: false });
    now = 2_000;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(customers.sent()).toBeGreaterThan(sent + RATE);
    expect(customers.usual()).toEqual({ sent, late });
  });

  it('count what they took once', async () => {
    const customers = start(async () => decided('Confirmed', null, 1_500));
    await vi.advanceTimersByTimeAsync(990);
    const first = customers.take();
    expect(first.good + first.failed).toBe(RATE);
    expect(first.slow).toBe(first.good);
    expect(customers.take()).toEqual({ sent: 0, good: 0, failed: 0, slow: 0 });
    await customers.stop();
  });

  it('count an order without a response as failed', async () => {
    const customers = start(() => Promise.reject(new Error('no response')));
    await vi.advanceTimersByTimeAsync(990);
    expect(customers.take()).toMatchObject({ sent: RATE, failed: RATE });
    await customers.stop();
  });

  it('count an order that was shed as neither good nor failed, and do not repeat it', async () => {
    const customers = start(async () => problem('order_shed'));
    customers.setLoad({ factor: 1, repeats: true });
    await vi.advanceTimersByTimeAsync(990);
    expect(customers.take()).toEqual({ sent: RATE, good: 0, failed: 0, slow: 0, shed: RATE });
    await customers.stop();
  });

  it('place more, and repeat what failed with the same key, when the load says so', async () => {
    const keys: string[] = [];
    const customers = start(async ({ key }) => {
      keys.push(key);
      return problem('orders_unreachable');
    });
    customers.setLoad({ factor: 4, repeats: true });
    await vi.advanceTimersByTimeAsync(990);
    expect(keys.length).toBeGreaterThan(3 * RATE);
    await vi.advanceTimersByTimeAsync(4_000);
    const times = Map.groupBy(keys, (key) => key);
    expect(times.get('7-1')).toHaveLength(4);
    await customers.stop();
  });

  it('end when they are stopped, and report each confirmed order', async () => {
    const ids: string[] = [];
    const customers = start(
      async () => decided('Confirmed'),
      (id) => ids.push(id),
    );
    await vi.advanceTimersByTimeAsync(500);
    await customers.stop();
    const sent = customers.sent();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(customers.sent()).toBe(sent);
    expect(ids.length).toBeGreaterThan(0);
  });
});
