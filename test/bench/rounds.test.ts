import { expect, it } from 'vitest';
import { rotated, summarize } from './rounds.ts';

it('takes the middle of an odd number of values and the mean of the two in the middle of an even one', () => {
  expect(summarize([9, 1, 4])).toEqual({ median: 4, min: 1, max: 9 });
  expect(summarize([9, 1, 4, 6])).toEqual({ median: 5, min: 1, max: 9 });
});

it('has no summary of nothing', () => {
  expect(() => summarize([])).toThrow(RangeError);
});

it('lets each kind of measurement be first in turn', () => {
  expect([0, 1, 2, 3].map((round) => rotated(['a', 'b', 'c'], round).join(''))).toEqual(['abc', 'bca', 'cab', 'abc']);
});
