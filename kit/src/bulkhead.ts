import { BulkheadRejectedError } from 'cockatiel';

/** Runs `work` now or when its turn comes. Throws BulkheadRejectedError when the queue is full. */
export type Bulkhead = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * At most `maxConcurrent` at a time and `maxQueued` in the queue, first come, first served. A place is handed to the next
 * in the queue. Cockatiel's bulkhead frees it first, so a new call can take it and the queued call is rejected.
 */
export function createBulkhead(maxConcurrent: number, maxQueued: number): Bulkhead {
  const queue: (() => void)[] = [];
  let running = 0;

  function leave(): void {
    const next = queue.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  return async (work) => {
    if (running < maxConcurrent) running += 1;
    else if (queue.length < maxQueued) await new Promise<void>((resolve) => queue.push(resolve));
    else throw new BulkheadRejectedError(maxConcurrent, maxQueued);
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
