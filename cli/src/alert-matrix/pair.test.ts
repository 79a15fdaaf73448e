import { expect, it } from 'vitest';
import { allPairs, leftOutFaults, pairName, planPairs } from './pair.ts';

it('each pair has another name', () => {
  const names = allPairs().map(pairName);
  expect(new Set(names).size).toBe(names.length);
});

it('faults that show little beyond others are left out, and counted', () => {
  const { pairs, leftOut } = planPairs({});
  expect(pairs.filter(({ fault }) => leftOutFaults.has(fault))).toEqual([]);
  expect(pairs.length + leftOut).toBe(allPairs().length);
  expect(planPairs({ all: true })).toMatchObject({ leftOut: 0, pairs: { length: allPairs().length } });
});

it('each of them has others that are measured, on the same targets', () => {
  const pairs = allPairs();
  const targetsOf = (fault: string) => pairs.filter((pair) => pair.fault === fault).map(({ target }) => target);
  for (const [fault, { others }] of leftOutFaults) {
    for (const other of others) {
      expect(leftOutFaults.has(other)).toBe(false);
      expect(targetsOf(other)).toEqual(expect.arrayContaining([...targetsOf(fault)]));
    }
    expect(targetsOf(fault)).not.toEqual([]);
  }
});

it('a fault that is named is measured, whatever it is like', () => {
  const { pairs } = planPairs({ faults: ['slow-close', 'timeout'], targets: ['orders-db'] });
  expect(pairs.map(pairName).toSorted()).toEqual(['slow_close orders-db', 'timeout orders-db']);
});

it('faults take turns', () => {
  const { pairs } = planPairs({ faults: ['down', 'partition'], targets: ['orders-db', 'orders-stock'] });
  expect(pairs.map(({ fault }) => fault)).toEqual(['partition', 'down', 'partition', 'down']);
});

it('pairs after which the platform is replaced come last', () => {
  const { pairs } = planPairs({});
  const first = pairs.findIndex(({ lastsLonger }) => lastsLonger);
  expect(pairs.slice(first).every(({ lastsLonger }) => lastsLonger)).toBe(true);
});

it.each([
  [{ faults: ['dwn'] }, 'the matrix has no fault "dwn", did you mean "down"?'],
  [{ targets: ['order'] }, 'the matrix has no target "order", did you mean "orders"?'],
  [{ faults: ['unbind'], targets: ['orders'] }, 'nothing is left to be measured'],
])('%j is refused', (selection, what) => {
  expect(() => planPairs(selection)).toThrow(expect.objectContaining({ what, exitCode: 2 }));
});
