import { describe, expect, it } from 'vitest';
import type { RunVerdict } from '../../shared/verdict.ts';
import { findBoundary } from './boundaries.ts';
import type { CheckedRound } from './check-round.ts';
import { planMatrix, type Round, rowName } from './plan.ts';
import { commandFor } from './render.ts';
import type { RoundSpec } from './round-experiment.ts';
import { type MatrixResult, runMatrix } from './run-matrix.ts';

const DOWN = { faults: ['down'], targets: ['orders-payments'] };
const at = (...names: string[]) => names.map(findBoundary);
const aPlan = (...names: string[]) => planMatrix({ ...DOWN, boundaries: at(...names) }, 1).rounds;

const checked = ({ boundaries }: RoundSpec, verdict: RunVerdict): CheckedRound => {
  const reason = verdict === 'pass' ? '' : `it was ${verdict}`;
  return { verdict, reasons: [reason], cells: new Map(boundaries.map((one) => [one, { verdict, reason }])) };
};

/** A matrix over a system that fails as configured; every run that was asked for is in `asked`. */
async function cover(
  rounds: readonly Round[],
  fails: (spec: RoundSpec, names: readonly string[]) => boolean,
  runs = 99,
) {
  const asked: string[] = [];
  const result = await runMatrix(rounds, {
    hasTime: () => asked.length < runs,
    async run(spec) {
      const names = spec.boundaries.map(({ name }) => name);
      asked.push(`${spec.row === undefined ? 'no fault' : rowName(spec.row)}: ${names.toSorted().join(' ')}`);
      return checked(spec, fails(spec, names) ? 'fail' : 'pass');
    },
  });
  return { result, asked };
}

const verdictsOf = ({ cells }: MatrixResult) =>
  Object.fromEntries(cells.map(({ boundary, verdict }) => [boundary.name, verdict]));
const findingsOf = ({ findings }: MatrixResult) =>
  findings.map(({ kind, boundaries }) => [kind, ...boundaries.map(({ name }) => name).toSorted()]);

describe('a round', () => {
  it('that passes is one run, and all its cells pass', async () => {
    const { result, asked } = await cover(
      aPlan('stock-reserved:unsaved', 'stock-reserved:saved', 'payment-charged:unsaved'),
      () => false,
    );
    expect(asked).toEqual([
      'down orders-payments: orders.payment-charged:unsaved orders.stock-reserved:saved orders.stock-reserved:unsaved',
    ]);
    expect(verdictsOf(result)).toEqual({
      'orders.stock-reserved:unsaved': 'pass',
      'orders.stock-reserved:saved': 'pass',
      'orders.payment-charged:unsaved': 'pass',
    });
    expect(result).toMatchObject({ findings: [], runs: 1 });
  });

  it('that fails is shrunk to the pair; the other cells are covered without it', async () => {
    const { result, asked } = await cover(
      aPlan('order-started:saved', 'stock-reserved:unsaved', 'stock-reserved:saved', 'payment-charged:unsaved'),
      ({ row }, names) => row !== undefined && names.includes('orders.stock-reserved:saved'),
    );
    expect(findingsOf(result)).toEqual([['pair', 'orders.stock-reserved:saved']]);
    expect(verdictsOf(result)).toEqual({
      'orders.order-started:saved': 'pass',
      'orders.stock-reserved:unsaved': 'pass',
      'orders.stock-reserved:saved': 'fail',
      'orders.payment-charged:unsaved': 'pass',
    });
    expect(asked).toContain('no fault: orders.stock-reserved:saved');
    expect(asked.at(-1)).toBe(
      'down orders-payments: orders.order-started:saved orders.payment-charged:unsaved orders.stock-reserved:unsaved',
    );
  });

  it('with several failing pairs gives each', async () => {
    const bad = ['orders.order-started:saved', 'orders.payment-charged:unsaved'];
    const { result } = await cover(
      aPlan('order-started:saved', 'stock-reserved:unsaved', 'stock-reserved:saved', 'payment-charged:unsaved'),
      ({ row }, names) => row !== undefined && names.some((name) => bad.includes(name)),
    );
    expect(findingsOf(result).toSorted()).toEqual([
      ['pair', 'orders.order-started:saved'],
      ['pair', 'orders.payment-charged:unsaved'],
    ]);
  });

  it('that only fails with two orders held concurrently gives both', async () => {
    const { result } = await cover(
      aPlan('order-started:saved', 'stock-reserved:unsaved', 'stock-reserved:saved', 'payment-charged:unsaved'),
      ({ row }, names) =>
        row !== undefined &&
        names.includes('orders.order-started:saved') &&
        names.includes('orders.payment-charged:unsaved'),
    );
    expect(findingsOf(result)).toEqual([['pair', 'orders.order-started:saved', 'orders.payment-charged:unsaved']]);
  });
});

describe('what fails alone', () => {
  it('is the fault when it fails with no order held; that is asked once', async () => {
    const rounds = planMatrix(
      {
        faults: ['down'],
        targets: ['orders-broker'],
        boundaries: at('batch-claimed:unpublished', 'event-published:unconfirmed'),
      },
      1,
    ).rounds;
    const { result, asked } = await cover(rounds, ({ row }) => row !== undefined);
    expect(findingsOf(result)).toHaveLength(2);
    expect(result.findings.map(({ kind }) => kind)).toEqual(['fault', 'fault']);
    expect(asked.filter((one) => one === 'down orders-broker: ')).toHaveLength(1);
    expect(asked).toHaveLength(3);
  });

  it('is the boundary when holding fails without the fault, which is not tried under another fault', async () => {
    const rounds = planMatrix(
      { faults: ['down', 'partition'], targets: ['orders-payments'], boundaries: at('stock-reserved:unsaved') },
      1,
    ).rounds;
    const { result, asked } = await cover(rounds, (_, names) => names.includes('orders.stock-reserved:unsaved'));
    expect(findingsOf(result)).toEqual([['boundary', 'orders.stock-reserved:unsaved']]);
    expect(asked).toHaveLength(3);
    expect(result.cells.map(({ verdict }) => verdict)).toEqual(['fail', 'fail']);
  });
});

describe('a matrix that ends early', () => {
  it('says which cells it did not cover', async () => {
    const rounds = planMatrix(
      { faults: ['down', 'partition'], targets: ['orders-payments'], boundaries: at('stock-reserved:unsaved') },
      1,
    ).rounds;
    const { result } = await cover(rounds, () => false, 1);
    expect(result.cells.map(({ verdict }) => verdict)).toEqual(['pass', 'not covered']);
  });

  it('reports a failure it had no time to shrink', async () => {
    const { result } = await cover(aPlan('stock-reserved:unsaved', 'stock-reserved:saved'), () => true, 1);
    expect(findingsOf(result)).toEqual([
      ['not shrunk', 'orders.stock-reserved:saved', 'orders.stock-reserved:unsaved'],
    ]);
    expect(verdictsOf(result)).toEqual({
      'orders.stock-reserved:unsaved': 'fail',
      'orders.stock-reserved:saved': 'fail',
    });
  });

  it.each(['dirty', 'interrupted'] as const)('by a run that is %s measures nothing further', async (verdict) => {
    const rounds = planMatrix(
      { faults: ['down', 'partition'], targets: ['orders-payments'], boundaries: at('stock-reserved:unsaved') },
      1,
    ).rounds;
    let runs = 0;
    const result = await runMatrix(rounds, {
      hasTime: () => true,
      run: async (spec) => {
        runs++;
        return checked(spec, verdict);
      },
    });
    expect({ runs, verdicts: result.cells.map((cell) => cell.verdict) }).toEqual({
      runs: 1,
      verdicts: [verdict, 'not covered'],
    });
  });
});

it('a finding names the command that shows it again', () => {
  const [round] = aPlan('stock-reserved:unsaved');
  if (round === undefined) throw new Error('there is no round');
  expect(commandFor(round.row, round.boundaries, { seed: 7, seededBugs: ['no-inbox'] })).toBe(
    'shopctl chaos matrix --fault down --target orders-payments --at orders.stock-reserved:unsaved --seed 7 --seed-bug no-inbox',
  );
});
