import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type FleetMember, freeNumbers, relabelled, resized, usualMembers } from './fleet.ts';

const member = (number: number): FleetMember => ({ number, track: 'green', weight: 100 });

it('the usual replicas have the numbers from 1 on, and share all calls', () => {
  expect(usualMembers(2, undefined)).toEqual([
    { number: 1, track: 'stable', weight: 100 },
    { number: 2, track: 'stable', weight: 100 },
  ]);
});

it('a replica that is added is like the others, with the least number that is free', () => {
  expect(resized([member(2)], 3)).toEqual([member(2), member(1), member(3)]);
  expect(freeNumbers([member(1), member(3)], 2)).toEqual([2, 4]);
});

it('what was added last is removed first, so that a change that failed leaves what was there', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), fc.nat(9), (numbers, more) => {
      const before = numbers.map(member);
      expect(resized(resized(before, before.length + more), before.length)).toEqual(before);
    }),
  );
});

it('a replica that comes to belong to another track keeps its process, and those that are added are started in that track', () => {
  const promoted = relabelled(member(2), 'stable');
  expect(promoted).toEqual({ number: 2, track: 'stable', startedAs: 'green', weight: 100 });
  expect(relabelled(promoted, 'canary')).toMatchObject({ track: 'canary', startedAs: 'green' });
  expect(relabelled(promoted, undefined)).toBe(promoted);
  expect(resized([promoted], 2)[1]).toEqual({ number: 1, track: 'stable', weight: 100 });
});
