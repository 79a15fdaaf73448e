import { context } from '@opentelemetry/api';
import type { Database } from '@shop/kit/database.ts';
import { Deadline } from '@shop/kit/deadline.ts';
import { ORDER_BUDGET_MS } from '@shop/kit/edges.ts';
import { messageOf } from '@shop/kit/failures.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { pause } from '@shop/kit/pause.ts';
import { contextOf, failSpan, inSpan, untraced } from '@shop/kit/tracing.ts';
import type { OrderGauges, OrderMetrics } from './metrics.ts';
import type { Ownership } from './ownership.ts';
import { adoptIdleSagas, countOpen, type StoredSaga } from './repository.ts';
import { type Saga, statusOf } from './saga/saga.ts';
import type { SagaRunner } from './saga-runner.ts';

/** How often idle sagas are looked for; half the first back-off of a compensation. */
const SCAN_MS = 500;
/** How often open sagas are counted at most: metrics are exported once a second. */
const COUNT_MS = 1_000;
/** Sagas resumed concurrently; a slow compensation keeps one of these places, and never the scan. */
const RECOVERY_CONCURRENCY = 32;

/** Runs idle sagas: those of instances that ended, our own that a lost save left behind, and compensations that are due. */
export interface Recovery {
  /** Stops adopting; resolves when the sagas adopted last have stopped. */
  stop(): Promise<void>;
}

export interface RecoveryOptions {
  readonly database: Database;
  readonly ownership: Pick<Ownership, 'id' | 'mayAdopt'>;
  readonly sagaRunner: SagaRunner;
  readonly metrics: OrderMetrics;
  readonly gauges: OrderGauges;
  readonly logger: Logger;
}

export function startRecovery(options: RecoveryOptions): Recovery {
  const { database, ownership, sagaRunner, metrics, gauges, logger } = options;
  const stopping = new AbortController();
  const resuming = new Set<Promise<void>>();
  let countedAt = Number.NEGATIVE_INFINITY;

  async function scan(): Promise<void> {
    while (!stopping.signal.aborted) {
      await countWaiting();
      if (!ownership.mayAdopt()) return;
      const limit = RECOVERY_CONCURRENCY - resuming.size;
      const adopted = await untraced(() =>
        adoptIdleSagas(database, { owner: ownership.id, activeIds: sagaRunner.activeIds(), limit }),
      );
      for (const stored of adopted) start(stored);
      if (adopted.length < limit) return;
      await Promise.race(resuming);
    }
  }

  /** Also while there is always more to resume: a stale gauge would show no progress. */
  async function countWaiting(): Promise<void> {
    if (performance.now() - countedAt < COUNT_MS) return;
    countedAt = performance.now();
    Object.assign(gauges, await untraced(() => countOpen(database)));
  }

  function start(stored: StoredSaga): void {
    const work = resume(stored).finally(() => resuming.delete(work));
    resuming.add(work);
  }

  async function resume(stored: StoredSaga): Promise<void> {
    const { saga } = stored;
    try {
      await context.with(contextOf(stored.traceParent), () => resumeInTrace(stored));
    } catch (error) {
      logger.warn({ order_id: saga.orderId, reason: messageOf(error) }, 'the saga could not be resumed yet');
    }
  }

  /** Continues the trace stored with the saga; a compensation that is due again is not a recovery. */
  function resumeInTrace({ saga, createdAt }: StoredSaga): Promise<unknown> {
    const again = saga.attempts > 0;
    return inSpan(
      again ? 'retry compensation' : 'recover order saga',
      { 'shop.order.id': saga.orderId },
      async (span) => {
        if (!again) {
          metrics.sagaRecovered();
          logger.info({ order_id: saga.orderId, state: saga.state }, 'resuming a saga');
        }
        return sagaRunner.run(saga, {
          deadline: Deadline.after(ORDER_BUDGET_MS),
          resumed: true,
          decided(decided) {
            if (decided.reason !== null) failSpan(span, decided.reason);
            count(decided, createdAt);
          },
        });
      },
    );
  }

  function count(saga: Saga, createdAt: Date): void {
    const status = statusOf(saga.state);
    if (status !== null) metrics.sagaDecided(status, saga.reason, Date.now() - createdAt.getTime());
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await scan().catch((error: unknown) => logger.warn({ reason: messageOf(error) }, 'idle sagas could not be read'));
      await pause(SCAN_MS, stopping.signal);
    }
  }
  const done = context.with(contextOf(undefined), run);

  return {
    async stop() {
      stopping.abort();
      await done;
      await Promise.all(resuming);
    },
  };
}
