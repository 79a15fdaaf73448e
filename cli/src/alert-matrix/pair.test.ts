import { expect, it } from 'vitest';
import { faults } from '../chaos/catalog.ts';
import { edges, serviceNames } from '../topology/services.ts';
import { allPairs, leftOutFaults, type Pair, pairName, planPairs } from './pair.ts';

it('each pair has another name', () => {
  const names = allPairs().map(pairName);
  expect(new Set(names).size).toBe(names.length);
});

it('every fault of the catalog and every target is in the default set, but for failpoints, whose names tests alone arm', () => {
  const { pairs } = planPairs({});
  const names = <Key extends 'fault' | 'target'>(of: readonly Pair[], key: Key) =>
    [...new Set(of.map((pair) => pair[key]))].toSorted();
  expect(names(pairs, 'fault')).toEqual(
    faults
      .map(({ name }) => name)
      .filter((name) => name !== 'failpoint')
      .toSorted(),
  );
  expect(names(pairs, 'target')).toEqual(names(allPairs(), 'target'));
});

it('every edge, database and process is a target of it', () => {
  const targets = new Set(planPairs({}).pairs.map(({ target }) => target));
  const wanted = [...edges.map(({ name }) => name), ...serviceNames, 'postgres', 'rabbitmq', 'telemetry'];
  expect(wanted.filter((name) => !targets.has(name))).toEqual([]);
});

it('faults that show little beyond others are measured on one target, and those left out are counted', () => {
  const { pairs, leftOut } = planPairs({});
  const others = pairs.filter(({ fault }) => leftOutFaults.has(fault));
  expect(others.map(({ fault, target }) => [fault, target]).toSorted()).toEqual(
    [...leftOutFaults].map(([fault, { measuredOn }]) => [fault, measuredOn]).toSorted(),
  );
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
