import { mulberry32 } from '@shop/kit/mulberry32.ts';
import { vi } from 'vitest';

/** Kept before any fake clock is installed: the turn of the real event loop that lets all promises settle. */
const turn = setImmediate;

/** The clocks and timers that the code under simulation sees. */
const FAKED = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const;

/** Every history starts at the same moment, so that a seed always gives the same one. */
const EPOCH = Date.UTC(2026, 0, 1);

export interface VirtualTime {
  /** Ms since the start. */
  now(): number;
  /** Runs `work` after `ms`. */
  after(ms: number, work: () => void): void;
  /** Lets time jump from timer to timer until `done` holds, or `endsAt` has come, ms since the start; returns whether it holds. */
  runUntil(done: () => boolean, endsAt: () => number): Promise<boolean>;
}

/** Runs `work` in virtual time: timers fire in their order, without waiting, and promises settle between any two of them. */
export async function inVirtualTime<T>(work: (time: VirtualTime) => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: [...FAKED], now: EPOCH });
  // Jitter too is the same in every replay.
  const random = vi.spyOn(Math, 'random').mockImplementation(mulberry32(0));
  const startedAt = performance.now();
  const now = () => Math.round(performance.now() - startedAt);
  try {
    return await work({
      now,
      after: (ms, later) => void setTimeout(later, ms),
      async runUntil(done, endsAt) {
        for (;;) {
          await settle();
          if (done()) return true;
          if (now() >= endsAt() || vi.getTimerCount() === 0) return false;
          vi.advanceTimersToNextTimer();
        }
      },
    });
  } finally {
    random.mockRestore();
    vi.clearAllTimers();
    vi.useRealTimers();
  }
}

/** Resolves when no promise can go on without a timer. */
function settle(): Promise<void> {
  return new Promise((resolve) => turn(resolve));
}
