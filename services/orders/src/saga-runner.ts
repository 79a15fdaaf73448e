import { type Database, runCommitFailpoint } from '@shop/kit/database.ts';
import { Deadline } from '@shop/kit/deadline.ts';
import { edges } from '@shop/kit/edges.ts';

import type { Failpoint } from '@shop/kit/failpoints.ts';
import { DatabaseUnavailableError, messageOf } from '@shop/kit/failures.ts';
import { createFlagOutcomes } from '@shop/kit/flag-outcomes.ts';
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
import { runSaga, type SagaPorts, type SagaResult } from './saga/interpreter.ts';
import { nextAction, type Saga, type Step, type StepOutcome, statusOf } from './saga/saga.ts';
import type { Stock } from './stock-client.ts';

/** Back-off between rounds of compensation, in ms; the rounds never end before they succeed. */
const COMPENSATION_BACKOFF = { baseMs: 500, maxMs: 5_000 } as const;

/** Pause between retries of a save without a response of the database, in ms. */
const SAVE_RETRY_MS = 200;

/**
 * For how long a save that decides an order is retried past the order's deadline, and the pause between retries, in ms.
 * Its response may have been lost after a commit, and no other instance would know that the order was decided here. A
 * Confirmed order is closed, so recovery never sees it, and it would never be counted.
 */
const DECISION = { limitMs: 300_000, retryMs: 2_000 } as const;

/** Budget of one compensation, in ms: no client waits for it. */
const COMPENSATION_BUDGET_MS = Math.max(edges['orders-payments'].callTimeoutMs, edges['orders-stock'].callTimeoutMs);

export interface RunOptions {
  /** Budget of the forward steps; what has no time left is cancelled. */
  readonly deadline: Deadline;
  /** An earlier run may have sent the next step already. */
  readonly resumed: boolean;
  /** Called when the order's status is durable. */
  decided(saga: Saga): void;
}

/** Runs sagas with the real services as participants, and knows which ones are active here. */
export interface SagaRunner {
  run(saga: Saga, options: RunOptions): Promise<SagaResult>;
  /** Ids of the active sagas, which recovery leaves alone. */
  activeIds(): readonly string[];
  /** Resolves when no saga is active. */
  idle(): Promise<void>;
}

export interface SagaRunnerOptions {
  readonly database: Database;
  readonly owner: string;
  readonly stock: Stock;
  readonly payments: Payments;
  readonly metrics: OrderMetrics;
  /** `activeSagas` is the gauge `shop.sagas.active`. */
  readonly gauges: OrderGauges;
  readonly logger: Logger;
  readonly failpoint: Failpoint<'orders'>;
  readonly flags: Pick<Flags, 'isOn'> & Partial<Pick<Flags, 'shareOn'>>;
  readonly stopping: AbortSignal;
}

export function createSagaRunner(options: SagaRunnerOptions): SagaRunner {
  const { database, owner, logger, gauges, failpoint } = options;
  const flagOutcomes = createFlagOutcomes(options.flags);
  const active = new Map<string, Promise<unknown>>();

  /** Retries a save until the database responds, so that a short outage leaves no saga half done. */
  async function saveWithRetry(
    before: Saga,
    after: Saga,
    deadline: Deadline,
    save: () => Promise<boolean>,
  ): Promise<boolean> {
    const isDecision = statusOf(before.state) === null && statusOf(after.state) !== null;
    const limit = isDecision ? Deadline.after(deadline.remainingMs() + DECISION.limitMs) : deadline;
    for (;;) {
      try {
        return (await save()) || (await committedByThisInstance(before, after));
      } catch (error) {
        if (!(error instanceof DatabaseUnavailableError) || limit.expired || options.stopping.aborted) throw error;
        logger.warn({ order_id: after.orderId, reason: messageOf(error) }, 'the saga could not be saved yet');
        await pause(deadline.expired ? DECISION.retryMs : SAVE_RETRY_MS, options.stopping);
      }
    }
  }

  /** A refused save may be our own earlier attempt, whose response was lost: only the owner raises the version. */
  async function committedByThisInstance(before: Saga, after: Saga): Promise<boolean> {
    const row = await findVersion(database, after.orderId);
    const isOurs = row?.owner === owner && row.version === after.version && row.state === after.state;
    if (!isOurs) logger.warn({ order_id: after.orderId, version: before.version }, 'another instance runs this saga');
    return isOurs;
  }

  function portsFor(entry: Saga, { deadline, resumed, decided }: RunOptions): SagaPorts {
    const mayBeSent = (step: Step) => resumed && step === nextAction(entry);
    return {
      run: (step, saga) =>
        inSpan(step.name, spanAttributes(saga), () => runStep(step, saga, deadline, mayBeSent(step))),
      compensate: (step, saga) => inSpan(step.compensation, spanAttributes(saga), () => compensate(step, saga)),
      save: (before, after) =>
        saveWithRetry(before, after, deadline, () =>
          updateSaga(database, { before, after, owner, dueInMs: dueInMs(after) }),
        ),
      // The key is the id, not the Idempotency-Key: every order has one, and recovery in another instance knows it.
      confirm: (before, after) =>
        flagOutcomes.during('publish-order-confirmed-v2', after.orderId, async (both) => {
          const events = confirmationEvents(after, eventVersions(both), new Date());
          const traceParent = currentTraceParent();
          return saveWithRetry(before, after, deadline, async () => {
            const isOurs = await confirmSaga(database, { before, after, owner, events, traceParent });
            HARNESS: await runCommitFailpoint(() => failpoint('order-confirmed:unacknowledged'));
            return isOurs;
          });
        }),
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
      // Nothing was sent: nothing is to be compensated. An outage would otherwise leave a compensation for every order.
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
    activeIds: () => [...active.keys()],
    async run(saga, runOptions) {
      const work = runSaga(saga, portsFor(saga, runOptions));
      active.set(saga.orderId, work);
      gauges.activeSagas = active.size;
      try {
        return await work;
      } finally {
        if (active.get(saga.orderId) === work) active.delete(saga.orderId);
        gauges.activeSagas = active.size;
      }
    },
    async idle() {
      while (active.size > 0) await Promise.allSettled(active.values());
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
