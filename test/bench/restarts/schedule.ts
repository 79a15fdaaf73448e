import { summarize } from '../rounds.ts';

/** A start and an end without a restart, ms. */
const CALM_MS = 3_000;
/** What a restart is thought to take before one was measured, ms. */
const UNKNOWN_MS = 10_000;

interface Measured {
  /** Of restarts so far, ms. */
  readonly tookMs: readonly number[];
}

/** How long a load has to be for so many restarts, whole seconds. */
export function secondsOfLoad(restarts: number, { everyMs, tookMs }: Measured & { readonly everyMs: number }): number {
  const typicalMs = tookMs.length === 0 ? everyMs : Math.max(everyMs, summarize(tookMs).median);
  return Math.ceil((restarts * typicalMs + slowestOf(tookMs) + 2 * CALM_MS) / 1_000);
}

/** Whether a restart that begins now is over before the load ends, when it is as slow as the slowest so far. */
export function startsInTime(nowMs: number, { untilMs, tookMs }: Measured & { readonly untilMs: number }): boolean {
  return nowMs + slowestOf(tookMs) + CALM_MS <= untilMs;
}

function slowestOf(tookMs: readonly number[]): number {
  return tookMs.length === 0 ? UNKNOWN_MS : Math.max(...tookMs);
}
