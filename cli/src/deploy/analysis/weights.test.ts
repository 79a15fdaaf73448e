import fc from 'fast-check';
import { expect, it } from 'vitest';
import { replicasFor, weightsFor } from './weights.ts';

const names = (what: string, count: number) => Array.from({ length: count }, (_, index) => `${what}-${index}`);
const arms = (canary: number, stable: number, baseline = 0) => ({
  canary: names('canary', canary),
  stable: names('stable', stable),
  baseline: names('baseline', baseline),
});
const sumOf = (weights: Readonly<Record<string, number>>, what = '') =>
  Object.entries(weights).reduce((sum, [name, weight]) => (name.startsWith(what) ? sum + weight : sum), 0);

it('one percent beside two replicas is one of a hundred', () => {
  expect(weightsFor(0.01, arms(1, 2))).toEqual({ 'canary-0': 2, 'stable-0': 99, 'stable-1': 99 });
});

it('a baseline has as many calls as the canary, but never more than a stable replica', () => {
  const small = weightsFor(0.05, arms(1, 2, 1));
  expect(small['baseline-0']).toBe(small['canary-0']);
  const large = weightsFor(0.5, arms(1, 2, 1));
  expect(large['baseline-0']).toBe(large['stable-0']);
});

it('the share is met to a thousandth, whatever the numbers of replicas are, and each weight can be written down', () => {
  const some = fc.integer({ min: 1, max: 6 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 99 }), some, some, fc.nat(1), (percent, canary, stable, baseline) => {
      const weights = weightsFor(percent / 100, arms(canary, stable, baseline));
      expect(Math.abs(sumOf(weights, 'canary') / sumOf(weights) - percent / 100)).toBeLessThan(0.003);
      for (const weight of Object.values(weights)) {
        expect(Number.isInteger(weight) && weight >= 1 && weight <= 1_000).toBe(true);
      }
    }),
  );
});

it('a canary has replicas by its share', () => {
  expect([0.01, 0.5, 0.51, 0.95].map((share) => replicasFor(share, 2))).toEqual([1, 1, 2, 2]);
});
