/** What a closed loop of clients saw. Times in ms. */
export interface LoopResult {
  readonly done: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** When to stop: after a time, or after a number of pieces of work. */
export type LoopLimit = { readonly durationMs: number } | { readonly count: number };

/**
 * `concurrency` clients that each do their next piece of work as soon as the last is done, until the limit. A failure
 * ends the loop and is thrown: a figure with failures in it is no figure.
 */
export async function closedLoop(
  concurrency: number,
  limit: LoopLimit,
  work: () => Promise<unknown>,
): Promise<LoopResult> {
  const latencies: number[] = [];
  const began = performance.now();
  let started = 0;
  let failed = false;
  const goesOn = () =>
    !failed && ('count' in limit ? started < limit.count : performance.now() - began < limit.durationMs);

  async function client(): Promise<void> {
    while (goesOn()) {
      started += 1;
      const at = performance.now();
      try {
        await work();
      } catch (error) {
        failed = true;
        throw error;
      }
      latencies.push(performance.now() - at);
    }
  }
  await Promise.all(Array.from({ length: concurrency }, client));
  const elapsedMs = performance.now() - began;
  latencies.sort((a, b) => a - b);
  return {
    done: latencies.length,
    elapsedMs,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

/** The smallest value that at least `share` of the sorted values do not exceed (nearest rank). NaN for no values. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
