import { upperBound, upperTail } from './binomial.ts';
import type { Evidence } from './evidence.ts';
import type { Guard } from './plan.ts';

/** What a guard saw, as one line of the journal. A guard that could not look says `unknown`, which never is a pass. */
export interface GuardReading {
  readonly guard: Guard;
  readonly at: number;
  readonly state: 'held' | 'tripped' | 'unknown';
  /** What was seen: "canary orders-3 exited with 1", "order …: 33 spans instead of 31". */
  readonly detail: string;
}

/** Outcomes of a service, such as those before the rollout began. */
export interface Level {
  readonly requests: number;
  readonly bad: number;
}

export const TOTAL_WINDOW_MS = 30_000;
/** Fewer requests before the rollout say nothing about its level. */
const LEAST_BEFORE = 20;
const LEAST_BAD = 5;
/** With a look a second over an hour this is met by chance in one rollout of a thousand at most. */
const CHANCE = 2.5e-7;
const CONFIDENCE = 0.99;

/**
 * Whether both arms together fail more than before the rollout, by more than `margin`. Harm that they share, as of a canary that
 * overloads what both call, does not show in a comparison of them. It trips also when something else fails meanwhile.
 */
export function readTotalErrors(
  evidence: readonly Evidence[],
  { before, margin, now }: { readonly before: Level | undefined; readonly margin: number; readonly now: number },
): GuardReading {
  const reading = (state: GuardReading['state'], detail: string): GuardReading => ({
    guard: 'total-errors',
    at: now,
    state,
    detail,
  });
  if (before === undefined || before.requests < LEAST_BEFORE) {
    const count = before?.requests ?? 0;
    return reading('unknown', `${count} requests before the rollout, ${LEAST_BEFORE} are needed to know their level`);
  }
  const recent = evidence.filter(({ at }) => at > now - TOTAL_WINDOW_MS && at <= now);
  const requests = recent.reduce((sum, line) => sum + line.requests, 0);
  const bad = recent.reduce((sum, line) => sum + line.bad, 0);
  const seen = `${bad} of ${requests} requests failed in ${TOTAL_WINDOW_MS / 1_000} s, ${before.bad} of ${before.requests} before`;
  return reading(isAbove({ requests, bad }, { before, margin }) ? 'tripped' : 'held', seen);
}

/** Whether the requests of a window fail more than before, by more than `margin`, and not by chance. */
export function isAbove(
  { requests, bad }: Level,
  { before, margin }: { readonly before: Level; readonly margin: number },
): boolean {
  if (bad < LEAST_BAD || bad / requests <= before.bad / before.requests + margin) return false;
  const allowed = Math.min(1, upperBound(before.requests, before.bad, CONFIDENCE) + margin);
  return upperTail(requests, bad, allowed) < CHANCE;
}
