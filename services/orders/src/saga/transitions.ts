import {
  type CancelReason,
  type CompensationName,
  type Pivot,
  type Saga,
  type Step,
  type StepOutcome,
  steps,
} from './saga.ts';

/*
 * What becomes of a saga: pure functions from the row before to the row that is saved. Each raises the version by one.
 */

/** The saga after a step: one state on, or cancelled with what has to be compensated. */
export function afterStep(saga: Saga, step: Step, outcome: StepOutcome): Saga {
  switch (outcome.kind) {
    case 'done':
      return { ...saga, state: step.reached, version: saga.version + 1 };
    case 'refused':
      return cancelled(saga, outcome.reason, compensationsBefore(step));
    case 'unknown':
      return {
        ...cancelled(saga, step.unavailable, [step.compensation, ...compensationsBefore(step)]),
        lastError: outcome.error,
      };
    default:
      return assertNever(outcome);
  }
}

/** The saga after the pivot. */
export function afterPivot(saga: Saga, pivot: Pivot): Saga {
  return { ...saga, state: pivot.reached, version: saga.version + 1 };
}

/** The saga after one compensation succeeded; the last one ends it. */
export function afterCompensation(saga: Saga, done: CompensationName): Saga {
  const pending = saga.pending.filter((name) => name !== done);
  const state = pending.length === 0 ? 'Cancelled' : 'Compensating';
  return { ...saga, pending, state, version: saga.version + 1, ...(pending.length === 0 ? { lastError: null } : {}) };
}

/** The saga after a round of compensation that left something pending. */
export function afterFailedRound(saga: Saga, error: string): Saga {
  return { ...saga, attempts: saga.attempts + 1, lastError: error, version: saga.version + 1 };
}

/** Compensations of the steps before `step`, last first. */
function compensationsBefore(step: Step): readonly CompensationName[] {
  return steps
    .slice(0, steps.indexOf(step))
    .map(({ compensation }) => compensation)
    .reverse();
}

function cancelled(saga: Saga, reason: CancelReason, pending: readonly CompensationName[]): Saga {
  const state = pending.length === 0 ? 'Cancelled' : 'Compensating';
  return { ...saga, state, reason, pending, version: saga.version + 1 };
}

function assertNever(value: never): never {
  throw new Error(`unexpected value ${JSON.stringify(value)}`);
}
