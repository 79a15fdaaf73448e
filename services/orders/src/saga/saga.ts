/**
 * The order saga as data: its states, steps and compensations (docs/saga.md).
 *
 * A step leads from one state to the next. When it fails for good, or its outcome is unknown, the order is cancelled and
 * what was done, or may have been done, is compensated in reverse order.
 */

export type RunningState = 'Started' | 'StockReserved' | 'PaymentCharged';
export type SagaState = RunningState | 'Confirmed' | 'Compensating' | 'Cancelled';
export type OrderStatus = 'Confirmed' | 'Cancelled';

export type StepName = 'reserve stock' | 'charge payment';
export type CompensationName = 'refund payment' | 'release stock';
export type CancelReason = 'out of stock' | 'stock unavailable' | 'payment declined' | 'payment unavailable';

export interface Step {
  readonly name: StepName;
  readonly from: RunningState;
  readonly reached: RunningState;
  readonly compensation: CompensationName;
  /** Why the order is cancelled when the step's outcome stays unknown. */
  readonly unavailable: CancelReason;
}

export const SAGA_NAME = 'order saga';

export const steps: readonly Step[] = [
  {
    name: 'reserve stock',
    from: 'Started',
    reached: 'StockReserved',
    compensation: 'release stock',
    unavailable: 'stock unavailable',
  },
  {
    name: 'charge payment',
    from: 'StockReserved',
    reached: 'PaymentCharged',
    compensation: 'refund payment',
    unavailable: 'payment unavailable',
  },
  // After the last step comes the pivot: status, saga and outbox row in one statement. It has no compensation.
];

export interface OrderLine {
  readonly productId: number;
  readonly quantity: number;
  readonly priceKopiykas: number;
}

/** One row of `orders`: the order and where its saga stands. */
export interface Saga {
  readonly orderId: string;
  readonly lines: readonly OrderLine[];
  readonly totalKopiykas: number;
  readonly currency: string;
  readonly state: SagaState;
  /** Raised by one with every save; a save names the version it read. */
  readonly version: number;
  /** Why the order is cancelled; null before and otherwise. */
  readonly reason: CancelReason | null;
  /** Compensations that have not succeeded yet, in the order in which they are tried. */
  readonly pending: readonly CompensationName[];
  /** Rounds of compensation that left something pending. */
  readonly attempts: number;
  readonly lastError: string | null;
}

/**
 * What a step's caller learned. `refused`: surely without effect, by a business answer or because nothing was ever sent;
 * `unknown` covers everything that got no clear answer.
 */
export type StepOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly reason: CancelReason }
  | { readonly kind: 'unknown'; readonly error: string };

export type NextAction =
  | { readonly kind: 'run'; readonly step: Step }
  | { readonly kind: 'confirm' }
  | { readonly kind: 'compensate'; readonly compensations: readonly CompensationName[] }
  | { readonly kind: 'end' };

/** What has to happen next; pure, and the same for a new saga, a recovered one and a simulated one. */
export function nextAction(saga: Saga): NextAction {
  switch (saga.state) {
    case 'Started':
    case 'StockReserved':
      return { kind: 'run', step: stepFrom(saga.state) };
    case 'PaymentCharged':
      return { kind: 'confirm' };
    case 'Compensating':
      return { kind: 'compensate', compensations: saga.pending };
    case 'Confirmed':
    case 'Cancelled':
      return { kind: 'end' };
    default:
      return assertNever(saga.state);
  }
}

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
export function afterConfirm(saga: Saga): Saga {
  return { ...saga, state: 'Confirmed', version: saga.version + 1 };
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

/** Status on the wire: decided from `Compensating` on, although compensation may still go on. */
export function statusOf(state: SagaState): OrderStatus | null {
  if (state === 'Confirmed') return 'Confirmed';
  return state === 'Compensating' || state === 'Cancelled' ? 'Cancelled' : null;
}

export function isEnded(state: SagaState): boolean {
  return state === 'Confirmed' || state === 'Cancelled';
}

function stepFrom(state: 'Started' | 'StockReserved'): Step {
  const step = steps.find(({ from }) => from === state);
  if (step === undefined) throw new Error(`no step leads on from ${state}`);
  return step;
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
