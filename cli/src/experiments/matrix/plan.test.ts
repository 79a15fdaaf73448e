import { describe, expect, it } from 'vitest';
import { faults } from '../../chaos/catalog.ts';
import { boundaries, findBoundary } from './boundaries.ts';
import { excludedFaults, matrixFaults } from './matrix-faults.ts';
import { cellsOf, planMatrix, type Round, rowName, sample } from './plan.ts';
import { roundExperiment } from './round-experiment.ts';

const reported = (rounds: readonly Round[]) =>
  rounds.map(({ row, boundaries: own }) => `${rowName(row)}: ${own.map(({ name }) => name).join(' ')}`);

describe('the plan', () => {
  it('has every fault of the catalog, or says why not', () => {
    const names = [...matrixFaults.map(({ fault }) => fault.name), ...excludedFaults.keys()];
    expect(names.toSorted()).toEqual(faults.map(({ name }) => name).toSorted());
    const planned = new Set(planMatrix({}, 1).rows.map(({ fault }) => fault.name));
    expect([...planned].toSorted()).toEqual(matrixFaults.map(({ fault }) => fault.name).toSorted());
  });

  it('has every boundary, each cell once, and counts the pairs that do not meet', () => {
    const { rows, rounds, unreachable } = planMatrix({}, 1);
    const cells = rounds.flatMap(({ row, boundaries: own }) => own.map(({ name }) => `${rowName(row)} ${name}`));
    expect(new Set(cells).size).toBe(cells.length);
    expect(cells.length + unreachable).toBe(rows.length * boundaries.length);
    const met = new Set(rounds.flatMap(({ boundaries: own }) => own.map(({ name }) => name)));
    expect(met.size).toBe(boundaries.length);
  });

  it('holds orders of one path at a time, and the relay at one boundary', () => {
    for (const { boundaries: own } of planMatrix({}, 3).rounds) {
      expect(new Set(own.map(({ path }) => path)).size).toBe(1);
      if (own[0]?.path === 'relay') expect(own).toHaveLength(1);
    }
  });

  it('is the same for the same seed, and another order for another', () => {
    const [one, same, other] = [1, 1, 2].map((seed) => reported(planMatrix({}, seed).rounds));
    expect(same).toEqual(one);
    expect(other).not.toEqual(one);
    expect(cellsOf(planMatrix({}, 2).rounds)).toBe(cellsOf(planMatrix({}, 1).rounds));
  });

  it('lets faults take turns, so that a part of it has met many of them', () => {
    const { rounds } = planMatrix({}, 1);
    const first = rounds.slice(0, matrixFaults.length).map(({ row }) => row.fault.name);
    expect(new Set(first).size).toBe(matrixFaults.length);
  });

  it('can be narrowed to one cell, as the command of a finding does', () => {
    const { rounds } = planMatrix(
      {
        faults: ['reset-peer'],
        targets: ['orders-payments'],
        boundaries: [findBoundary('payments.charge-decided:response-unsent')],
      },
      7,
    );
    expect(reported(rounds)).toEqual(['reset_peer orders-payments: payments.charge-decided:response-unsent']);
  });

  it.each([
    [{ faults: ['partitoin'] }, 'did you mean "partition"'],
    [{ targets: ['orders-paymets'] }, 'did you mean "orders-payments"'],
    [{ faults: ['purge'] }, 'the matrix has no fault "purge"'],
    [{ targets: ['catalog-db'], boundaries: [findBoundary('stock-reserved:unsaved')] }, 'nothing is left to be run'],
  ])('refuses %j', (selection, message) => {
    expect(() => planMatrix(selection, 1)).toThrow(message);
  });
});

describe('a sample', () => {
  it('has exactly so many cells, of the plan, the same for the same seed', () => {
    const { rounds } = planMatrix({}, 5);
    for (const count of [1, 3, 40]) {
      const chosen = sample(rounds, count);
      expect(cellsOf(chosen)).toBe(count);
      expect(reported(chosen)).toEqual(reported(sample(planMatrix({}, 5).rounds, count)));
    }
    expect(sample(rounds, 1_000_000)).toEqual(rounds);
  });
});

describe('a boundary', () => {
  it('is found by its full name, and by its short one where that is one place only', () => {
    expect(findBoundary('orders.stock-reserved:unsaved').name).toBe('orders.stock-reserved:unsaved');
    expect(findBoundary('Stock-Reserved:Unsaved').name).toBe('orders.stock-reserved:unsaved');
    expect(() => findBoundary('transaction-committed:unacknowledged')).toThrow('several services have a boundary');
    expect(() => findBoundary('orders.stock-reserved:unsavd')).toThrow('did you mean "orders.stock-reserved:unsaved"');
  });
});

describe('every round', () => {
  const { rounds } = planMatrix({}, 1);
  const pathOf = ({ boundaries: [first] }: Round) => first?.path ?? 'request';

  it.each(matrixFaults.map(({ fault }) => fault.name))('of %s is a valid experiment', (name) => {
    const round = rounds.find(({ row }) => row.fault.name === name);
    if (round === undefined) throw new Error(`no round of ${name}`);
    const { platform } = roundExperiment({ ...round, path: pathOf(round) }, ['no-inbox']);
    expect(platform).toMatchObject({ failpoints: true, 'seeded-bugs': ['no-inbox'] });
  });

  it.each([...new Set(rounds.map(pathOf))])(
    'on the path %s is one also without fault, or without boundaries',
    (path) => {
      const round = rounds.find((one) => pathOf(one) === path);
      if (round === undefined) throw new Error(`no round on ${path}`);
      const held = roundExperiment({ ...round, path, row: undefined }, []);
      expect(held.method.filter(({ name }) => name.startsWith('hold at'))).toHaveLength(round.boundaries.length);
      const plain = roundExperiment({ ...round, path, boundaries: [] }, []);
      expect(plain.method.some(({ name }) => name.startsWith('hold at'))).toBe(false);
    },
  );
});
