import { context } from '@opentelemetry/api';
import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import { ProblemError } from './problems.ts';

/** Runs `work` now or when its turn comes. Throws ProblemError `overloaded` when the queue is full. */
export type Admission = <T>(work: () => Promise<T>) => Promise<T>;

/** At most `atOnce` at a time and `waiting` in the queue. */
export function createAdmission(limits: { atOnce: number; waiting: number }): Admission {
  const places = bulkhead(limits.atOnce, limits.waiting);
  return async (work) => {
    try {
      // Work that waits is started by the one that leaves: bound, its spans stay in its own trace.
      return await places.execute(context.bind(context.active(), work));
    } catch (error) {
      if (!(error instanceof BulkheadRejectedError)) throw error;
      throw new ProblemError('overloaded', 'too many requests are waiting, try again', { cause: error });
    }
  };
}
