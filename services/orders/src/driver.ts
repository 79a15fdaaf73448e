import { type Database, mayLoseAnswer } from '@shop/kit/database.ts';
import { Deadline } from '@shop/kit/deadline.ts';
import { edges } from '@shop/kit/edges.ts';

import type { Failpoint } from '@shop/kit/failpoints.ts';
import { DatabaseUnavailableError, messageOf } from '@shop/kit/failures.ts';
import type { Flags } from '@shop/kit/flags.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { pause } from '@shop/kit/pause.ts';
import { backoffMs, CallUnavailableError } from '@shop/kit/resilience.ts';
import { currentTraceParent, inSpan } from '@shop/kit/tracing.ts';
import { confirmationEvents, eventVersions } from './events.ts';
import type { OrderGauges, OrderMetrics } from './metrics.ts';
import { participantsWithin } from './participants.ts';
import type { Payments } from './payments-client.ts';
import { confirmSaga, findVersion, updateSaga } from './repository.ts';
import { type DriveResult, drive, type SagaPorts } from './saga/interpreter.ts';
import { nextAction, type Saga, type Step, type StepOutcome, statusOf } from './saga/saga.ts';
import type { Stock } from './stock-client.ts';

/** Back-off between rounds of compensation, in ms; the rounds never end before they succeed. */
const COMPENSATION_BACKOFF = { baseMs: 500, maxMs: 5_000 } as const;

/** Pause between tries of a save that the database did not answer, in ms. */
const SAVE_RETRY_MS = 200;

/**
 * For how long a save that decides an order is tried past the order's deadline, and the pause between those tries, in ms. Its
 * answer may have been lost behind a commit, and nobody else would then know that the order was decided here: a Confirmed
 * order is closed, so recovery never sees it, and it would never be counted.
 */
const DECISION = { limitMs: 300_000, retryMs: 2_000 } as const;

/** Budget of one compensation, in ms: nobody waits for it. */
const COMPENSATION_BUDGET_MS = Math.max(edges['orders-payments'].callTimeoutMs, edges['orders-stock'].callTimeoutMs);

export interface DriveOptions {
  /** Budget of the forward steps; what has no time left is cancelled. */
  readonly deadline: Deadline;
  /** An earlier drive may have sent the step that the saga stands before. */
  readonly resumed: boolean;
  /** Called when the order's status is durable. */
  decided(saga: Saga): void;
}

/** Drives sagas with the real services behind them, and knows which ones it has in work. */
export interface Driver {
  drive(saga: Saga, options: DriveOptions): Promise<DriveResult>;
  /** Ids of the sagas in work, which recovery leaves alone. */
  drivenIds(): readonly string[];
  /** Resolves when nothing is in work. */
  idle(): Promise<void>;
}

export interface DriverOptions {
  readonly database: Database;
  readonly owner: string;
  readonly stock: Stock;
  readonly payments: Payments;
  readonly metrics: OrderMetrics;
  /** `driven` is the gauge `shop.sagas.driven`. */
  readonly gauges: OrderGauges;
  readonly logger: Logger;
  readonly failpoint: Failpoint<'orders'>;
  readonly flags: Pick<Flags, 'isOn'>;
  readonly stopping: AbortSignal;
}

export function createDriver(options: DriverOptions): Driver {
  const { database, owner, logger, gauges, failpoint } = options;
  const inWork = new Map<string, Promise<unknown>>();

  /** Tries a save until the database answers, so that a short outage does not leave a half-driven saga behind. */
  async function saved(before: Saga, after: Saga, deadline: Deadline, save: () => Promise<boolean>): Promise<boolean> {
    const isDecision = statusOf(before.state) === null && statusOf(after.state) !== null;
    const limit = isDecision ? Deadline.after(deadline.remainingMs() + DECISION.limitMs) : deadline;
    for (;;) {
      try {
        return (await save()) || (await wasOurs(before, after));
      } catch (error) {
        if (!(error instanceof DatabaseUnavailableError) || limit.expired || options.stopping.aborted) throw error;
        logger.warn({ order_id: after.orderId, reason: messageOf(error) }, 'the saga could not be saved yet');
        await pause(deadline.expired ? DECISION.retryMs : SAVE_RETRY_MS, options.stopping);
      }
    }
  }

  /** A refused save may be our own earlier try, whose answer was lost: only the owner raises the version. */
  async function wasOurs(before: Saga, after: Saga): Promise<boolean> {
    const row = await findVersion(database, after.orderId);
    const ours = row?.owner === owner && row.version === after.version && row.state === after.state;
    if (!ours) logger.warn({ order_id: after.orderId, version: before.version }, 'another instance drives this saga');
    return ours;
  }

  function portsFor(entry: Saga, { deadline, resumed, decided }: DriveOptions): SagaPorts {
    const mayBeSent = (step: Step) => resumed && step === nextAction(entry);
    return {
      run: (step, saga) =>
        inSpan(step.name, spanAttributes(saga), () => runStep(step, saga, deadline, mayBeSent(step))),
      compensate: (step, saga) => inSpan(step.compensation, spanAttributes(saga), () => compensate(step, saga)),
      save: (before, after) =>
        saved(before, after, deadline, () => updateSaga(database, { before, after, owner, dueInMs: dueInMs(after) })),
      confirm(before, after) {
        const events = confirmationEvents(after, eventVersions(options.flags), new Date());
        const traceParent = currentTraceParent();
        return saved(before, after, deadline, async () => {
          const isOurs = await confirmSaga(database, { before, after, owner, events, traceParent });
          await mayLoseAnswer(() => failpoint('order-confirmed:unacknowledged'));
          return isOurs;
        });
      },
      decided(saga) {
        const status = statusOf(saga.state);
        logger.info({ order_id: saga.orderId, status, ...(saga.reason && { reason: saga.reason }) }, 'order decided');
        decided(saga);
      },
      reached: failpoint,
    };
  }

  async function runStep(step: Step, saga: Saga, deadline: Deadline, mayBeSent: boolean): Promise<StepOutcome> {
    try {
      return await step.run(participantsWithin(deadline, options), saga);
    } catch (error) {
      // Nothing was sent: nothing is to be taken back. An outage would otherwise leave a compensation for every order.
      if (error instanceof CallUnavailableError && !error.sent && !mayBeSent) {
        return { kind: 'refused', reason: step.unavailable };
      }
      logger.warn(
        { order_id: saga.orderId, step: step.name, reason: messageOf(error) },
        'the step had no clear outcome',
      );
      throw error;
    }
  }

  async function compensate({ compensation, compensate }: Step, saga: Saga): Promise<void> {
    try {
      await compensate(participantsWithin(Deadline.after(COMPENSATION_BUDGET_MS), options), saga);
    } catch (error) {
      options.metrics.compensationFailed(compensation);
      logger.warn({ order_id: saga.orderId, compensation, reason: messageOf(error) }, 'will be compensated later');
      throw error;
    }
  }

  return {
    drivenIds: () => [...inWork.keys()],
    async drive(saga, driveOptions) {
      const work = drive(saga, portsFor(saga, driveOptions));
      inWork.set(saga.orderId, work);
      gauges.driven = inWork.size;
      try {
        return await work;
      } finally {
        if (inWork.get(saga.orderId) === work) inWork.delete(saga.orderId);
        gauges.driven = inWork.size;
      }
    },
    async idle() {
      while (inWork.size > 0) await Promise.allSettled(inWork.values());
    },
  };
}

function spanAttributes(saga: Saga) {
  return { 'shop.order.id': saga.orderId };
}

/** When a saga with failed compensations is due again; null for all others. */
function dueInMs(saga: Saga): number | null {
  if (statusOf(saga.state) !== 'Cancelled' || saga.attempts === 0 || saga.pending.length === 0) return null;
  return Math.round(backoffMs(saga.attempts, COMPENSATION_BACKOFF.baseMs, COMPENSATION_BACKOFF.maxMs, () => 1));
}
