import type { RunClock } from '../clock.ts';

/** A clock whose sleeps end immediately and advance it. */
export function createFakeClock(): RunClock & { advance(ms: number): void } {
  let now = 0;
  return {
    now: () => now,
    date: () => new Date(Date.UTC(2026, 10, 21) + now),
    async sleep(ms, signal) {
      signal.throwIfAborted();
      now += ms;
    },
    advance(ms) {
      now += ms;
    },
  };
}
