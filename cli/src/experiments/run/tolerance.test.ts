import { describe, expect, it } from 'vitest';
import type { Tolerance } from '../format/schema.ts';
import { describeTolerance, isWithin, type Value } from './tolerance.ts';

describe('a value is within', () => {
  it.each<[Value, Tolerance, boolean]>([
    ['Confirmed', 'Confirmed', true],
    ['Confirmed', 'Cancelled', false],
    [0, 0, true],
    ['0', 0, false],
    [null, null, true],
    [5, { gte: 5, lte: 5 }, true],
    [5, { gt: 5 }, false],
    [4, { lt: 5, ne: 4 }, false],
    [3, { in: [1, 3] }, true],
    [3, { range: [3, 4] }, true],
    [5, { range: [3, 4] }, false],
    ['out of stock', { matches: '^out' }, true],
    ['5', { gte: 1 }, false],
    [Number.NaN, { lte: 10 }, false],
  ])('%j of %j: %s', (value, tolerance, expected) => {
    expect(isWithin(value, tolerance)).toBe(expected);
  });

  it('no tolerance it does not know', () => {
    expect(isWithin(1, { about: 1 } as unknown as Tolerance)).toBe(false);
  });
});

it('is shown with its unit', () => {
  expect(describeTolerance({ gte: 4_000, lte: 4_700.5 }, ' ms')).toBe('>= 4000 ms, <= 4700.5 ms');
});
