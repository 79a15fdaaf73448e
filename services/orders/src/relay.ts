import { context } from '@opentelemetry/api';
import type { Database, Queryable } from '@shop/kit/database.ts';
import type { Failpoint } from '@shop/kit/failpoints.ts';
import { messageOf } from '@shop/kit/failures.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { pause } from '@shop/kit/pause.ts';
import { contextOf, type OpenSpan, openSpan, untraced } from '@shop/kit/tracing.ts';
import { createBatchSize } from './batch-size.ts';
import type { OrderGauges } from './metrics.ts';
import { claimUnpublished, countPending, markPublished, type OutboxRow } from './outbox.ts';
import type { Publisher } from './publisher.ts';

/*
 * Moves committed events from the outbox to the broker, at least once.
 *
 * R1  A row is marked published only after the broker confirmed it, and never when the broker returned it.
 * R2  A claimed row is locked by its batch's transaction: no other batch, of this relay or of another, publishes it, and a
 *     ended relay's rows are free.
 * R3  While the broker is unavailable or silent no span is made, so a waiting row does not make its order's trace grow.
 * R4  The number of pending rows is refreshed at every poll, whatever the broker does.
 * R5  A batch that its transaction's time limits fail is not tried again as it was: the next one has half of its rows.
 */

const POLL_MS = 500;
/** Rows at most. A batch's claim, mark and commit are shared by them; a crashed relay's are published once more. */
export const BATCH = 500;
/** Batches processed concurrently while more than one waits: one is published while the other is read, marked and committed. */
const BATCH_CONCURRENCY = 2;

export interface Relay {
  /** Finishes its batches and stops. */
  stop(): Promise<void>;
}

export interface RelayOptions {
  readonly database: Database;
  readonly publisher: Publisher;
  readonly logger: Logger;
  readonly failpoint: Failpoint<'orders'>;
  /** `pendingEvents` is the gauge `shop.outbox.pending`. */
  readonly gauges: OrderGauges;
}

export function startRelay(options: RelayOptions): Relay {
  const { database, publisher, logger, failpoint, gauges } = options;
  const stopping = new AbortController();
  const size = createBatchSize(BATCH);

  async function poll(): Promise<void> {
    const pending = await refreshPending();
    if (pending > 0) {
      await drain(pending > size.current ? BATCH_CONCURRENCY : 1);
      await refreshPending();
    }
  }

  /** Rejects with the first failure once all batches have ended. */
  async function drain(concurrency: number): Promise<void> {
    const ended = await Promise.allSettled(Array.from({ length: concurrency }, publishUntilShort));
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
  }

  async function publishUntilShort(): Promise<void> {
    while (publisher.ready && !stopping.signal.aborted) {
      const limit = size.current;
      if ((await publishBatch(limit)) < limit) break;
    }
  }

  async function refreshPending(): Promise<number> {
    const { count, oldestAgeS } = await untraced(() => countPending(database));
    gauges.pendingEvents = count;
    gauges.oldestPendingAgeS = oldestAgeS;
    return count;
  }

  /** The transaction has no span; each row's work is traced in its order's trace. Returns how many rows were published. */
  async function publishBatch(limit: number): Promise<number> {
    let claimed = 0;
    const published = await database
      .transaction(async (transaction) => {
        const rows = await claimUnpublished(transaction, limit);
        claimed = rows.length;
        HARNESS: if (rows.length > 0) await failpoint('batch-claimed:unpublished');
        return relayRows(transaction, rows);
      })
      .catch((error: unknown) => {
        if (claimed > 0) size.failed(claimed);
        throw error;
      });
    size.succeeded(claimed);
    HARNESS: if (published > 0) await failpoint('batch-marked:committed');
    return published;
  }

  /** Returns how many rows the broker confirmed, and marks these. */
  async function relayRows(transaction: Queryable, rows: readonly OutboxRow[]): Promise<number> {
    const works = rows.map(beginWork);
    const outcomes = await Promise.allSettled(works.map(publish));
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
    if (failures[0] !== undefined) {
      logger.warn({ failed: failures.length, of: rows.length, reason: messageOf(failures[0].reason) }, 'not published');
    }
    const confirmed = works.filter((_, index) => outcomes[index]?.status === 'fulfilled');
    if (confirmed.length > 0) await mark(transaction, confirmed);
    return confirmed.length;
  }

  async function publish({ row, span }: Work): Promise<void> {
    try {
      await context.with(span.context, async () => {
        const publishing = [publisher.publish(row)];
        HARNESS: publishing.push(failpoint('event-published:unconfirmed'));
        await Promise.all(publishing);
        HARNESS: await failpoint('event-confirmed:unmarked');
      });
    } catch (error) {
      span.end(error);
      throw error;
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await poll().catch((error: unknown) => logger.warn({ reason: messageOf(error) }, 'the outbox could not be read'));
      await pause(POLL_MS, stopping.signal);
    }
  }
  // Outside of any span: what the loop does for itself is not traced.
  const done = context.with(contextOf(undefined), run);

  return {
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

/** A row that is relayed, and its span, which ends when the row is marked. */
interface Work {
  readonly row: OutboxRow;
  readonly span: OpenSpan;
}

function beginWork(row: OutboxRow): Work {
  const attributes = { 'messaging.message.id': row.id, 'shop.order.id': row.orderId };
  return { row, span: openSpan('outbox relay', attributes, contextOf(row.traceParent)) };
}

/** One statement marks them all, and has a span below each of theirs. */
async function mark(transaction: Queryable, works: readonly Work[]): Promise<void> {
  const end = (error?: unknown) => {
    for (const { span } of works) span.end(error);
  };
  try {
    await markPublished(
      transaction,
      works.map(({ row }) => row.id),
      works.map(({ span }) => span.context),
    );
    end();
  } catch (error) {
    end(error);
    throw error;
  }
}
