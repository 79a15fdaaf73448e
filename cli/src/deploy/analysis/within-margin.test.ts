import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ShareCounts } from './evidence.ts';
import { logWithinMargin } from './within-margin.ts';

const counts = (requests: number, bad: number) => ({ requests, bad, slow: 0, timed: 0 });
const row = (share: number, canary: [number, number], stable: [number, number]): ShareCounts => ({
  share,
  canary: counts(...canary),
  stable: counts(...stable),
});

const someCounts = fc.tuple(fc.nat(100_000), fc.nat(1_000)).map(([good, bad]) => counts(good + bad, bad));
const someShares = fc.array(
  fc.record({ share: fc.double({ min: 0.001, max: 0.999, noNaN: true }), canary: someCounts, stable: someCounts }),
  { maxLength: 6 },
);
const someMargin = fc.double({ min: 0.0001, max: 0.5, noNaN: true });

describe('evidence that a canary is within the margin', () => {
  it('is 1 before the first request', () => {
    expect(logWithinMargin([], 0.01)).toBe(0);
  });

  it('multiplies 1 + c p (margin - D) for each request', () => {
    const [p, margin] = [0.25, 0.01];
    const mean = (factor: (bet: number) => number) =>
      [0.03, 0.06, 0.12, 0.25, 0.5, 0.9].map(factor).reduce((a, b) => a + b) / 6;
    const of = (canary: [number, number], stable: [number, number]) =>
      Math.exp(logWithinMargin([row(p, canary, stable)], margin));
    expect(of([1, 0], [0, 0])).toBeCloseTo(
      mean((c) => 1 + c * p * margin),
      12,
    );
    expect(of([1, 1], [0, 0])).toBeCloseTo(
      mean((c) => 1 + c * p * (margin - 1 / p)),
      12,
    );
    expect(of([0, 0], [1, 1])).toBeCloseTo(
      mean((c) => 1 + c * p * (margin + 1 / (1 - p))),
      12,
    );
  });

  it('does not rise with a failure of the canary in place of a good response, nor fall with one of stable', () => {
    fc.assert(
      fc.property(someShares, someMargin, fc.nat(), (rows, margin, at) => {
        const before = logWithinMargin(rows, margin);
        const fail = (arm: 'canary' | 'stable') =>
          rows.map((one, index) => {
            if (index !== at % rows.length || one[arm].bad === one[arm].requests) return one;
            return { ...one, [arm]: { ...one[arm], bad: one[arm].bad + 1 } };
          });
        const rounding = 1e-9 * (1 + Math.abs(before));
        expect(logWithinMargin(fail('canary'), margin)).toBeLessThanOrEqual(before + rounding);
        expect(logWithinMargin(fail('stable'), margin)).toBeGreaterThanOrEqual(before - rounding);
      }),
    );
  });

  it('is expected to stay, or fall, while the excess is the margin or more', () => {
    const share = fc.double({ min: 0.001, max: 0.999, noNaN: true });
    const rate = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(share, someMargin, rate, rate, (p, margin, stableRate, more) => {
        const e0 = stableRate * (1 - margin);
        const e1 = e0 + margin + more * (1 - e0 - margin);
        const next = (canary: [number, number], stable: [number, number]) =>
          Math.exp(logWithinMargin([row(p, canary, stable)], margin));
        const good = next([1, 0], [0, 0]);
        const expected =
          p * (e1 * next([1, 1], [0, 0]) + (1 - e1) * good) + (1 - p) * (e0 * next([0, 0], [1, 1]) + (1 - e0) * good);
        expect(expected).toBeLessThanOrEqual(1 + 1e-9);
      }),
    );
  });

  it('is a number for any counts', () => {
    fc.assert(
      fc.property(someShares, someMargin, (rows, margin) => {
        expect(Number.isFinite(logWithinMargin(rows, margin))).toBe(true);
      }),
    );
  });
});
