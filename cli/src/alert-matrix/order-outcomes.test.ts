import { describe, expect, it } from 'vitest';
import {
  confirmedIn,
  isCounted,
  isFailed,
  type OrderOutcome,
  secondsOf,
  shipmentsOf,
  shippedUntil,
} from './order-outcomes.ts';

const anOutcome = (more: Partial<OrderOutcome> = {}): OrderOutcome => ({ sentAt: 0, tookMs: 100, http: 201, ...more });

it.each([
  ['confirmed', { http: 201, status: 'Confirmed' }, true, false],
  ['declined', { http: 200, status: 'Cancelled', reason: 'payment declined' }, true, false],
  ['out of stock', { http: 200, status: 'Cancelled', reason: 'out of stock' }, true, false],
  ['cancelled by a dependency', { http: 200, status: 'Cancelled', reason: 'stock unavailable' }, true, true],
  ['refused by the shop', { http: 503 }, true, true],
  ['without a response', { http: 0 }, true, true],
  ['wrong', { http: 400 }, false, false],
  ['of an unknown product', { http: 422 }, false, false],
] as const)('an order that is %s', (_, outcome, counts, failed) => {
  expect([isCounted(anOutcome(outcome)), isFailed(anOutcome(outcome))]).toEqual([counts, failed]);
});

it('an order counts in the second of its response', () => {
  const outcomes = [
    anOutcome(),
    anOutcome({ sentAt: 900, tookMs: 1_200 }),
    anOutcome({ sentAt: 950, http: 503 }),
    anOutcome({ sentAt: 2_000, http: 422 }),
  ];
  expect(secondsOf(outcomes, 0)).toEqual([
    [1, 1, 0, 0],
    [1, 1, 1, 0],
    [2, 1, 0, 1],
  ]);
});

describe('shipments', () => {
  const confirmed = confirmedIn([
    anOutcome({ id: 'a', status: 'Confirmed' }),
    anOutcome({ id: 'b', status: 'Confirmed' }),
    anOutcome({ id: 'c', status: 'Confirmed', sentAt: 1_000 }),
    anOutcome({ id: 'd', status: 'Cancelled' }),
    anOutcome({ http: 0 }),
  ]);

  it('are late 15 s after the response, and missing without one', () => {
    const shippedAt = new Map([
      ['a', 15_100],
      ['b', 15_101],
    ]);
    expect(shipmentsOf(confirmed, shippedAt)).toEqual({ confirmed: 3, late: 1, missing: 1 });
  });

  it('are waited for until the last is due', () => {
    expect(shippedUntil(confirmed)).toBe(16_100);
  });
});
