import type { RunClock } from './clock.ts';

/** Sent later than this an arrival is not where its rate puts it, ms. */
export const LATE_MS = 100;

export interface OpenLoopOptions {
  readonly clock: RunClock;
  /** No arrivals any more. */
  readonly signal: AbortSignal;
  /** Without it they end with the signal, ms since the start. */
  readonly forMs?: number | undefined;
  /** From an arrival to the next one, ms; asked for after each. */
  gapMs(): number;
  /** The arrival of this index, from 0. `isLate`: more than 100 ms after its time. */
  send(index: number, isLate: boolean): Promise<unknown>;
}

export interface OpenLoop {
  /** So far; `late`: more than 100 ms after their time. */
  readonly counts: { readonly sent: number; readonly late: number };
  /** Resolves when the last that was sent has ended, and rejects when one has failed. */
  readonly done: Promise<void>;
}

/** Arrivals at a rate, whatever becomes of them: a system that slows down gets no fewer. */
export function startOpenLoop({ clock, signal, forMs = Infinity, gapMs, send }: OpenLoopOptions): OpenLoop {
  const counts = { sent: 0, late: 0 };
  const inFlight = new Set<Promise<unknown>>();

  async function run(): Promise<void> {
    const began = clock.now();
    for (let due = 0; due < forMs; due += gapMs()) {
      const waitMs = began + due - clock.now();
      if (waitMs > 0) await clock.sleep(waitMs, signal).catch(() => undefined); // Aborted: checked next.
      if (signal.aborted) break;
      const isLate = waitMs < -LATE_MS;
      if (isLate) counts.late++;
      const one = send(counts.sent++, isLate);
      inFlight.add(one);
      // A failed one stays, for the end.
      one.then(
        () => inFlight.delete(one),
        () => undefined,
      );
    }
    await Promise.all(inFlight);
  }

  return { counts, done: run() };
}
