import type { Failpoint } from '@shop/kit/failpoints.ts';

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

export interface OrderLine {
  readonly productId: number;
  readonly quantity: number;
  readonly priceKopiykas: number;
}

/** One row of `orders`: the order and the state of its saga. */
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
 * What a step's caller learned. `refused`: surely without effect, by a business response or because nothing was ever sent;
 * `unknown` covers everything without a clear response.
 */
export type StepOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly reason: CancelReason }
  | { readonly kind: 'unknown'; readonly error: string };

/** The services that take part. Each call carries a key derived from the order's id. */
export interface Participants {
  /** Reserving and charging reject when their outcome is unknown. */
  reserve(saga: Saga): Promise<StepOutcome>;
  charge(saga: Saga): Promise<StepOutcome>;
  /** Releasing and refunding reject when it is not certain that they took effect. */
  release(saga: Saga): Promise<void>;
  refund(saga: Saga): Promise<void>;
}

/**
 * Passes the failpoints around a save: what it saves has happened and is `unsaved`, or is `saved`. Functions, because a
 * production build leaves out statements, and so the names.
 */
export interface SaveFailpoints {
  readonly unsaved: (pass: Failpoint<'orders'>) => Promise<void>;
  readonly saved: (pass: Failpoint<'orders'>) => Promise<void>;
}

export interface Step extends SaveFailpoints {
  readonly kind: 'step';
  readonly name: StepName;
  readonly run: (participants: Participants, saga: Saga) => Promise<StepOutcome>;
  readonly reached: RunningState;
  readonly compensation: CompensationName;
  readonly compensate: (participants: Participants, saga: Saga) => Promise<void>;
  /** Why the order is cancelled when the step's outcome stays unknown. */
  readonly unavailable: CancelReason;
}

/** Status, saga and outbox row in one statement; it has no compensation. */
export interface Pivot extends SaveFailpoints {
  readonly kind: 'pivot';
  readonly reached: 'Confirmed';
}

/** All that is pending, once; `saved` is passed behind the last. */
export interface Compensation extends SaveFailpoints {
  readonly kind: 'compensation';
}

/** What happens next. */
export type Action = Step | Pivot | Compensation | { readonly kind: 'end' };

/** A row of the table: the order's status on the wire, null while it is undecided, and what happens next. */
export type StateRow = { readonly status: OrderStatus | null } & Action;

export const SAGA_NAME = 'order saga';

/** The saga: a row for each state, running ones in the order in which they are reached. */
export const orderSaga = {
  Started: {
    status: null,
    kind: 'step',
    name: 'reserve stock',
    run: (participants, saga) => participants.reserve(saga),
    reached: 'StockReserved',
    compensation: 'release stock',
    compensate: (participants, saga) => participants.release(saga),
    unavailable: 'stock unavailable',
    async unsaved(pass) {
      HARNESS: await pass('stock-reserved:unsaved');
    },
    async saved(pass) {
      HARNESS: await pass('stock-reserved:saved');
    },
  },
  StockReserved: {
    status: null,
    kind: 'step',
    name: 'charge payment',
    run: (participants, saga) => participants.charge(saga),
    reached: 'PaymentCharged',
    compensation: 'refund payment',
    compensate: (participants, saga) => participants.refund(saga),
    unavailable: 'payment unavailable',
    async unsaved(pass) {
      HARNESS: await pass('payment-charged:unsaved');
    },
    async saved(pass) {
      HARNESS: await pass('payment-charged:saved');
    },
  },
  PaymentCharged: {
    status: null,
    kind: 'pivot',
    reached: 'Confirmed',
    async unsaved(pass) {
      HARNESS: await pass('order-confirmed:unsaved');
    },
    async saved(pass) {
      HARNESS: await pass('order-confirmed:saved');
    },
  },
  Confirmed: { status: 'Confirmed', kind: 'end' },
  // The status is decided, although compensations are left.
  Compensating: {
    status: 'Cancelled',
    kind: 'compensation',
    async unsaved(pass) {
      HARNESS: await pass('step-compensated:unsaved');
    },
    async saved(pass) {
      HARNESS: await pass('order-compensated:saved');
    },
  },
  Cancelled: { status: 'Cancelled', kind: 'end' },
} as const satisfies Readonly<Record<SagaState, StateRow>>;

/** Failpoints around the save of any step that was not done. */
export const failedStep: SaveFailpoints = {
  async unsaved(pass) {
    HARNESS: await pass('step-failed:unsaved');
  },
  async saved(pass) {
    HARNESS: await pass('step-failed:saved');
  },
};

export const steps: readonly Step[] = Object.values(orderSaga).filter((row) => row.kind === 'step');

/** What has to happen next; pure, and the same for a new saga, a recovered one and a simulated one. */
export function nextAction(saga: Saga): Action {
  const row: StateRow | undefined = orderSaga[saga.state];
  if (row === undefined) throw new Error(`unknown saga state "${saga.state}"`);
  return row;
}

/** The order's status on the wire; null while it is undecided. */
export function statusOf(state: SagaState): OrderStatus | null {
  return orderSaga[state].status;
}

export function isEnded(state: SagaState): boolean {
  return orderSaga[state].kind === 'end';
}

/** The step that a pending compensation undoes. */
export function stepOf(compensation: CompensationName): Step {
  const step = steps.find((candidate) => candidate.compensation === compensation);
  if (step === undefined) throw new Error(`unknown compensation "${compensation}"`);
  return step;
}
