import { percentile } from '../../../cli/src/shared/statistics.ts';

/** What a closed loop of clients saw. Times in ms. */
export interface LoopResult {
  readonly done: number;
  /** Pieces of work that failed; not in `done`, nor in the latencies. */
  readonly failed: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** When to stop: after a time, or after a number of pieces of work. */
export type LoopLimit = { readonly durationMs: number } | { readonly count: number };

/** Failures that are reported beside the figures; with more of them there are no figures. */
const TOLERATED_SHARE = 0.01;

/**
 * `concurrency` clients that each do their next piece of work as soon as the last is done, until the limit. Throws the
 * first failure when more than one piece of work in a hundred failed.
 */
export async function closedLoop(
  concurrency: number,
  limit: LoopLimit,
  work: () => Promise<unknown>,
): Promise<LoopResult> {
  const latencies: number[] = [];
  const began = performance.now();
  let started = 0;
  const failures: unknown[] = [];
  const goesOn = () => ('count' in limit ? started < limit.count : performance.now() - began < limit.durationMs);

  async function client(): Promise<void> {
    while (goesOn()) {
      started += 1;
      const at = performance.now();
      await work().then(
        () => latencies.push(performance.now() - at),
        (error: unknown) => failures.push(error),
      );
    }
  }
  await Promise.all(Array.from({ length: concurrency }, client));
  const elapsedMs = performance.now() - began;
  if (failures.length > TOLERATED_SHARE * started) throw failures[0];
  return {
    done: latencies.length,
    failed: failures.length,
    elapsedMs,
    p50Ms: percentile(latencies, 0.5) ?? Number.NaN,
    p99Ms: percentile(latencies, 0.99) ?? Number.NaN,
  };
}
