import type { LoopResult } from './closed-loop.ts';

/**
 * A shot whose rate is that of the events after the first `head`, from the end of the last of those to the very last.
 * Where the relay chooses when it begins, no time marks the beginning of the first ones. `endedAt` is when each event
 * was over, ms, in order. Throws RangeError where no event is left after the head.
 */
export function drainShot(endedAt: readonly number[], head: number): LoopResult {
  const [from, to] = [endedAt[head - 1], endedAt.at(-1)];
  const done = endedAt.length;
  if (from === undefined || to === undefined || done <= head)
    throw new RangeError(`${done} events, ${head} of them first`);
  // CPU is that of all events, so all are `done`; their time is as long as the rate makes of them.
  const elapsedMs = ((to - from) * done) / (done - head);
  return { done, failed: 0, elapsedMs, p50Ms: Number.NaN, p99Ms: Number.NaN };
}
