import { BulkheadRejectedError } from 'cockatiel';
import { createBulkhead } from './bulkhead.ts';
import { ProblemError } from './problems.ts';

/** Runs `work` now or when its turn comes. Throws ProblemError `overloaded` when the queue is full. */
export type Admission = <T>(work: () => Promise<T>) => Promise<T>;

/** At most `maxConcurrent` at a time and `maxQueued` in the queue. */
export function createAdmission(limits: { maxConcurrent: number; maxQueued: number }): Admission {
  const places = createBulkhead(limits.maxConcurrent, limits.maxQueued);
  return async (work) => {
    try {
      return await places(work);
    } catch (error) {
      if (!(error instanceof BulkheadRejectedError)) throw error;
      throw new ProblemError('overloaded', 'too many requests are waiting, try again', { cause: error });
    }
  };
}
