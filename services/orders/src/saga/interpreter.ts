import type { Failpoint } from '@shop/kit/failpoints.ts';
import { messageOf } from '@shop/kit/failures.ts';
import {
  type Compensation,
  failedStep,
  isEnded,
  nextAction,
  type Pivot,
  type Saga,
  type Step,
  type StepOutcome,
  statusOf,
  stepOf,
} from './saga.ts';
import { afterCompensation, afterFailedRound, afterPivot, afterStep } from './transitions.ts';

/*
 * Runs one saga from the state in its row. Recovery calls the same function with the same row, so there is no second
 * code path. It owns the order of effects; it does no I/O itself and uses no clock.
 *
 * I1  A step's result is saved before the next step starts.
 * I2  Every save is a compare-and-set on (version, owner): a run that lost its saga is fenced and changes nothing more.
 * I3  The order's status is decided once, by the save that leaves the running states, and `decided` is called after it.
 * I4  A compensation is pending until it has succeeded; a failed one never stops the others.
 * I5  A running saga never waits for ever: a step without a clear response cancels the order. Only saves and
 *     compensations are repeated without end, and each of those repetitions starts from the saved row.
 */

/** What the interpreter acts through. */
export interface SagaPorts {
  /** Never rejects for a business response; a rejection counts as an unknown outcome. */
  run(step: Step, saga: Saga): Promise<StepOutcome>;
  /** Rejects when it is not certain that the compensation took effect. */
  compensate(step: Step, saga: Saga): Promise<void>;
  /** Stores `after` where the row still has the version of `before` and our ownership. False when it has not. */
  save(before: Saga, after: Saga): Promise<boolean>;
  /** `save` with the outbox row in the same statement. */
  confirm(before: Saga, after: Saga): Promise<boolean>;
  /** Called once, when the order's status has become durable through this run. */
  decided(saga: Saga): void;
  /** Passed at each failpoint of the table; a crash there must be recoverable. */
  reached: Failpoint<'orders'>;
}

/** How a run ended: with the saga, with a compensation to be retried later, or `fenced` by another owner of the saga. */
export type SagaResult = { readonly kind: 'ended' | 'waiting' | 'fenced'; readonly saga: Saga };

/** Runs `saga` until it has ended, has to wait, or is fenced. Rejects when a save fails: then only the row is right. */
export async function runSaga(saga: Saga, ports: SagaPorts): Promise<SagaResult> {
  let current = saga;
  for (;;) {
    const action = nextAction(current);
    if (action.kind === 'end') return { kind: 'ended', saga: current };
    if (action.kind === 'compensation') return compensateRound(current, action, ports);
    const after = await (action.kind === 'step' ? runStep(current, action, ports) : confirm(current, action, ports));
    if (after === undefined) return { kind: 'fenced', saga: current };
    current = after;
  }
}

/** The saga after the step; undefined when it is fenced. */
async function runStep(saga: Saga, step: Step, ports: SagaPorts): Promise<Saga | undefined> {
  const outcome = await outcomeOf(() => ports.run(step, saga));
  const failpoints = outcome.kind === 'done' ? step : failedStep;
  HARNESS: await failpoints.unsaved(ports.reached);
  const after = afterStep(saga, step, outcome);
  if (!(await ports.save(saga, after))) return undefined;
  if (statusOf(after.state) !== null) ports.decided(after);
  HARNESS: await failpoints.saved(ports.reached);
  return after;
}

/** The saga after the pivot; undefined when it is fenced. */
async function confirm(saga: Saga, pivot: Pivot, ports: SagaPorts): Promise<Saga | undefined> {
  const after = afterPivot(saga, pivot);
  HARNESS: await pivot.unsaved(ports.reached);
  if (!(await ports.confirm(saga, after))) return undefined;
  HARNESS: await pivot.saved(ports.reached);
  ports.decided(after);
  return after;
}

async function outcomeOf(run: () => Promise<StepOutcome>): Promise<StepOutcome> {
  try {
    return await run();
  } catch (error) {
    return { kind: 'unknown', error: messageOf(error) };
  }
}

/** Tries each pending compensation once. What failed stays pending, and the row says when it is due again. */
async function compensateRound(saga: Saga, compensation: Compensation, ports: SagaPorts): Promise<SagaResult> {
  let current = saga;
  let failure: string | undefined;
  for (const name of saga.pending) {
    const error = await attempt(() => ports.compensate(stepOf(name), current));
    if (error !== undefined) {
      failure ??= `${name}: ${error}`;
      continue;
    }
    HARNESS: await compensation.unsaved(ports.reached);
    const after = afterCompensation(current, name);
    if (!(await ports.save(current, after))) return { kind: 'fenced', saga: current };
    current = after;
  }
  if (isEnded(current.state)) {
    HARNESS: await compensation.saved(ports.reached);
    return { kind: 'ended', saga: current };
  }
  const after = afterFailedRound(current, failure ?? 'nothing was pending');
  if (!(await ports.save(current, after))) return { kind: 'fenced', saga: current };
  return { kind: 'waiting', saga: after };
}

async function attempt(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
