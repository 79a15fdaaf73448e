import { setTimeout as delay } from 'node:timers/promises';

/** Time as a run sees it; tests have their own. */
export interface RunClock {
  /** Monotonic, ms. */
  now(): number;
  /** Wall clock. */
  date(): Date;
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: RunClock = {
  now: () => performance.now(),
  date: () => new Date(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }),
};
