import { expect, it } from 'vitest';
import { evenly } from './trace.ts';

it('of many traces the first, the last and those evenly between them are looked at', () => {
  expect(evenly([1, 2, 3], 50)).toEqual([1, 2, 3]);
  expect(evenly([...Array(101).keys()], 3)).toEqual([0, 50, 100]);
});
