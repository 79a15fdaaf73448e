import { expect, it } from 'vitest';
import { percentile } from './statistics.ts';

it.each([
  [[], 0.5, undefined],
  [[7], 0.95, 7],
  [[3, 1, 2], 0.5, 2],
  [[4, 3, 2, 1], 0.5, 2],
  [Array.from({ length: 100 }, (_, index) => index + 1), 0.95, 95],
  [[1, 2, 10], 1, 10],
])('of %j the share %d does not exceed %d', (values, share, expected) => {
  expect(percentile(values, share)).toBe(expected);
});
