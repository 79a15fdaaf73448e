import { beforeEach, describe, expect, it, vi } from 'vitest';
import { simulate } from '../testing/histories.ts';
import { type Defects, play } from '../testing/world.ts';
import type { SagaPorts } from './interpreter.ts';
import { type Saga, type Step, type StepOutcome, statusOf } from './saga.ts';

/*
 * Goal: the simulation is worth something only if it finds what it is there for.
 * Method: each test seeds one defect, in the saga, around the interpreter's ports or in the models of database, stock,
 * payments and shipping. It demands that the default number of histories finds it, by the invariant that names it.
 */
const RUNS = 3_000;
/** The same histories every time: a defect that is found once is found always. */
const SEED = 1;

interface SeededDefect {
  afterStep?: (real: (saga: Saga, step: Step, outcome: StepOutcome) => Saga) => typeof real;
  ports?: (ports: SagaPorts) => SagaPorts;
}

const seeded = vi.hoisted(() => ({ current: {} as SeededDefect }));

vi.mock('./transitions.ts', async (importOriginal) => {
  const real = await importOriginal<typeof import('./transitions.ts')>();
  return {
    ...real,
    afterStep: (saga: Saga, step: Step, outcome: StepOutcome) =>
      (seeded.current.afterStep?.(real.afterStep) ?? real.afterStep)(saga, step, outcome),
  };
});
vi.mock('./interpreter.ts', async (importOriginal) => {
  const real = await importOriginal<typeof import('./interpreter.ts')>();
  return {
    ...real,
    runSaga: (saga: Saga, ports: SagaPorts) => real.runSaga(saga, seeded.current.ports?.(ports) ?? ports),
  };
});

/** The message of the failed property. Fails when all histories held. */
async function foundBySimulation(defect: SeededDefect, environment: Defects = {}): Promise<string> {
  seeded.current = defect;
  try {
    await simulate((history) => play(history, environment), { runs: RUNS, seed: SEED });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return `${error.message}\n${error.cause instanceof Error ? error.cause.message : ''}`;
  }
  throw new Error(`${RUNS} histories held in spite of the defect`);
}

beforeEach(() => {
  seeded.current = {};
});

describe('the simulation finds', { timeout: 120_000 }, () => {
  const environment: readonly [string, Defects, RegExp][] = [
    ['a late charge that no tombstone refuses', { payments: { noTombstone: true } }, /I4/],
    ['a late reserve that no tombstone refuses', { stock: { noTombstone: true } }, /I5/],
    ['a charge without idempotency key', { payments: { noIdempotency: true } }, /I4/],
    ['a reserve without idempotency key', { stock: { noIdempotency: true } }, /I5/],
    ['a save that does not compare the version', { store: { saveIgnoresVersion: true } }, /I2|I4|I6|UNIQUE/],
    ['an adoption that does not ask for the lease', { store: { adoptIgnoresLease: true } }, /lease holds/],
    ['an adoption of what was just inserted', { store: { adoptIgnoresGrace: true } }, /lease holds/],
    ['a confirmation without its outbox row', { store: { confirmForgetsOutbox: true } }, /I6/],
    ['a consumer without inbox', { shipping: { noInbox: true } }, /I7/],
  ];
  it.each(environment)('%s', async (_title, defects, invariant) => {
    expect(await foundBySimulation({}, defects)).toMatch(invariant);
  });

  const sagas: readonly [string, SeededDefect, RegExp][] = [
    [
      'a refund skipped when the outcome of the charge is unknown',
      {
        afterStep: withPending((pending, step) => pending.filter((_, index) => index > 0 || step !== 'charge payment')),
      },
      /I4/,
    ],
    [
      'a release skipped when the outcome of the reservation is unknown',
      { afterStep: withPending((pending, step) => (step === 'reserve stock' ? [] : pending)) },
      /I5/,
    ],
    ['compensations in the order of the steps', { afterStep: withPending((pending) => pending.toReversed()) }, /order/],
    [
      'a status reported before it is saved',
      {
        ports: (ports) => ({
          ...ports,
          decided: (saga) => (saga.state === 'Confirmed' ? ports.decided(saga) : undefined),
          save: (before, after) => {
            if (statusOf(before.state) === null && statusOf(after.state) !== null) ports.decided(after);
            return ports.save(before, after);
          },
        }),
      },
      /I2|I11/,
    ],
    [
      'a failed compensation that is dropped',
      {
        ports: (ports) => ({
          ...ports,
          compensate: (step, saga) => ports.compensate(step, saga).catch(() => undefined),
        }),
      },
      /I4|I5/,
    ],
    [
      'a step without a clear response taken as refused',
      {
        ports: (ports) => ({
          ...ports,
          run: (step, saga) => ports.run(step, saga).catch(() => ({ kind: 'refused', reason: step.unavailable })),
        }),
      },
      /I4|I5/,
    ],
    [
      'a lost save taken as saved',
      { ports: (ports) => ({ ...ports, save: (before, after) => ports.save(before, after).then(() => true) }) },
      /I2|I4|I5|I6|I11/,
    ],
  ];
  it.each(sagas)('%s', async (_title, defect, invariant) => {
    expect(await foundBySimulation(defect)).toMatch(invariant);
  });
});

/** An `afterStep` that changes what a cancelled order has to compensate. */
function withPending(change: (pending: Saga['pending'], step: Step['name']) => Saga['pending']) {
  return (real: (saga: Saga, step: Step, outcome: StepOutcome) => Saga) =>
    (saga: Saga, step: Step, outcome: StepOutcome): Saga => {
      const after = real(saga, step, outcome);
      if (outcome.kind !== 'unknown') return after;
      const pending = change(after.pending, step.name);
      return { ...after, pending, state: pending.length === 0 ? 'Cancelled' : 'Compensating' };
    };
}
