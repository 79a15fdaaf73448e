import { describe, expect, it } from 'vitest';
import type { Evidence } from './evidence.ts';
import { readTotalErrors } from './guards.ts';

/** Ten seconds of both arms, 50 requests each, ending at `end`. */
function seconds(bad: number, end = 100_000): Evidence[] {
  return Array.from({ length: 10 }, (_, index) => ({
    at: end - index * 1_000,
    arm: index % 2 === 0 ? ('stable' as const) : ('canary' as const),
    share: 0.25,
    requests: 50,
    bad,
    slow: null,
  }));
}

const read = (evidence: Evidence[], before: { requests: number; bad: number } | undefined) =>
  readTotalErrors(evidence, { before, margin: 0.01, now: 100_000 });

describe('the guard on errors of both arms together', () => {
  it('trips when more fails than before, beyond the margin, whichever arm it is', () => {
    expect(read(seconds(5), { requests: 1_500, bad: 0 })).toEqual({
      guard: 'total-errors',
      at: 100_000,
      state: 'tripped',
      detail: '50 of 500 requests failed in 30 s, 0 of 1500 before',
    });
  });

  it('holds at the level before, and within the margin of it', () => {
    expect(read(seconds(5), { requests: 1_500, bad: 150 }).state).toBe('held');
    expect(read(seconds(1), { requests: 1_500, bad: 15 }).state).toBe('held');
    expect(read([], { requests: 1_500, bad: 0 }).state).toBe('held');
  });

  it('forgets what is older than 30 s', () => {
    expect(read(seconds(50, 60_000), { requests: 1_500, bad: 0 }).state).toBe('held');
  });

  it('is unknown without requests before the rollout', () => {
    expect(read(seconds(0), undefined)).toMatchObject({
      state: 'unknown',
      detail: '0 requests before the rollout, 20 are needed to know their level',
    });
    expect(read(seconds(50), { requests: 19, bad: 0 }).state).toBe('unknown');
  });
});
