import { messageOf } from './failures.ts';
import type { Logger } from './logger.ts';
import { pause } from './pause.ts';
import { untraced } from './tracing.ts';

/** Rows of one statement: few enough that it locks nothing for long. */
const BATCH = 1_000;
/** Between two batches: what a service does for its callers comes first. */
const BETWEEN_BATCHES_MS = 100;
/** Instances that start together do not purge together; they may, since each deletes what no other has locked. */
const FIRST_WITHIN_MS = 60_000;
const EVERY_MS = 3_600_000;

export interface RetentionOptions {
  /** For the log. */
  readonly table: string;
  /** Rows older than this go. */
  readonly keepDays: number;
  /** Deletes at most `limit` rows older than `days`, none that another transaction has locked; returns how many. */
  purge(options: { readonly days: number; readonly limit: number }): Promise<number>;
  readonly logger: Logger;
}

/**
 * What a repository is asked to delete, in one statement. `DELETE ... WHERE id = ANY (ARRAY(SELECT ... LIMIT $2))`: of `IN (SELECT ...)` with a
 * parameter as its limit PostgreSQL expects a tenth of the table, and reads all of it.
 */
export type PurgeLimits = Parameters<RetentionOptions['purge']>[0];

/**
 * Deletes old rows of a table for as long as the service runs: within a minute of its start and then every hour, in batches,
 * untraced. A failure is logged, and the next hour tries again. Disposal waits for the current batch.
 */
export function startRetention({ table, keepDays, purge, logger }: RetentionOptions): AsyncDisposable {
  const stopping = new AbortController();

  async function purgeAll(): Promise<void> {
    let deleted = 0;
    for (let count = BATCH; count === BATCH && !stopping.signal.aborted; ) {
      count = await untraced(() => purge({ days: keepDays, limit: BATCH }));
      deleted += count;
      if (count === BATCH) await pause(BETWEEN_BATCHES_MS, stopping.signal);
    }
    if (deleted > 0) logger.info({ table, deleted, keepDays }, 'old rows were deleted');
  }

  async function run(): Promise<void> {
    await pause(Math.random() * FIRST_WITHIN_MS, stopping.signal);
    while (!stopping.signal.aborted) {
      await purgeAll().catch((error: unknown) =>
        logger.warn({ table, reason: messageOf(error) }, 'old rows could not be deleted, the next hour tries again'),
      );
      await pause(EVERY_MS, stopping.signal);
    }
  }
  const done = run();

  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await done;
    },
  };
}
