import type { MeasuredPhase } from './measured.ts';

/** Where a ramp stopped being followed. */
export interface Knee {
  /** The highest step that held, orders a second; null when not even the first did. */
  readonly sustainedPerSecond: number | null;
  /** p95 at that step, ms. */
  readonly p95Ms: number | null;
  /** The first step that did not hold; null when all did: the knee lies above the ramp. */
  readonly saturatedAtPerSecond: number | null;
  /** Why it did not hold. */
  readonly because: string | null;
  /** The most orders a second that were confirmed within the time of any step: what the system does when more is asked of it. */
  readonly highestPerSecond: number;
}

/** A step holds while at least this share of what was offered is done in time... */
const MIN_SHARE = 0.95;
/**
 * ...and 95 of 100 responses come within this, ms. Above it a queue is growing: at a constant rate it would not end.
 */
const P95_LIMIT_MS = 1_000;

/**
 * The last step before the first one that did not hold. Steps after it say nothing: they begin with the queues that it
 * left. A ramp that was ended early has steps that nothing was sent in; they are left out. `throughput`: orders confirmed a
 * second in the time of each step.
 */
export function findKnee(steps: readonly MeasuredPhase[], throughput: readonly number[]): Knee {
  const saturated = firstSaturated(steps);
  const first = steps[saturated];
  const held = steps.slice(0, first === undefined ? undefined : saturated).findLast(({ sent }) => sent > 0);
  return {
    sustainedPerSecond: held?.offeredPerSecond ?? null,
    p95Ms: held?.latencyMs.p95 ?? null,
    saturatedAtPerSecond: first?.offeredPerSecond ?? null,
    because: (first && whySaturated(first)) ?? null,
    highestPerSecond: round(Math.max(0, ...throughput)),
  };
}

/** Index of the first step that did not hold; -1 when all did. Not to be found by its rate, which steps may share. */
export function firstSaturated(steps: readonly MeasuredPhase[]): number {
  return steps.findIndex((step) => step.sent > 0 && whySaturated(step) !== undefined);
}

/** Undefined for a step that held. */
export function whySaturated({ offeredPerSecond, expected, durationS, latencyMs }: MeasuredPhase): string | undefined {
  const due = (offeredPerSecond ?? 0) * durationS;
  if (expected < MIN_SHARE * due)
    return `${round(expected / durationS)} of ${offeredPerSecond} orders a second were confirmed`;
  const { p95 } = latencyMs;
  return p95 !== null && p95 > P95_LIMIT_MS ? `p95 was ${Math.round(p95)} ms, above ${P95_LIMIT_MS} ms` : undefined;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
