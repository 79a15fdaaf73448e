import { describe, expect, it } from 'vitest';
import { planArithmetic, refusalOf, stepsAt } from './arithmetic.ts';
import type { CanaryPlan } from './plan.ts';
import { theDefaultPlan } from './testing/plan.ts';

const quick = { ratePerSecond: 50, errorRate: 0, runs: 60 };

describe('the arithmetic of a plan', () => {
  it('has what each step takes: its time, or that of its requests beyond those before', () => {
    expect(stepsAt(theDefaultPlan, 50)).toEqual([
      { share: 0.01, requests: 20, seconds: 40, isByRequests: true },
      { share: 0.05, requests: 100, seconds: 32, isByRequests: true },
      { share: 0.25, requests: 300, seconds: 20, isByRequests: false },
      { share: 0.5, requests: 600, seconds: 20, isByRequests: false },
    ]);
    expect(planArithmetic(theDefaultPlan, quick)).toMatchObject({ seconds: 112, refusal: undefined });
  });

  it('states its error rates', () => {
    const { falseRollback, falsePromotion, requestsForMargin } = planArithmetic(theDefaultPlan, quick);
    expect([falseRollback, falsePromotion, requestsForMargin]).toEqual([0.01, 0.05, 299]);
  });

  it('says how releases of each kind end', () => {
    const { outcomes } = planArithmetic(theDefaultPlan, quick);
    expect(outcomes.map(({ canary }) => canary)).toEqual([0, 0.01, 0.02, 0.05, 0.2, 1]);
    expect(outcomes[0]).toMatchObject({ promoted: 1, rolledBack: 0, medianFailed: 0 });
    for (const worse of outcomes.slice(2)) expect(worse).toMatchObject({ promoted: 0, rolledBack: 1 });
    expect(outcomes.at(-1)?.medianSeconds).toBeLessThanOrEqual(10);
  });

  it('says how soon it finds more slow responses', () => {
    const { slowOutcomes } = planArithmetic(theDefaultPlan, quick);
    expect(slowOutcomes.map(({ slow }) => slow)).toEqual([0.15, 0.2, 0.4]);
    expect(slowOutcomes.at(-1)).toMatchObject({ rolledBack: 1, medianFailed: 0 });
    expect(slowOutcomes[0]?.promoted).toBeGreaterThan(0.9);
  });

  it('is the same each time', () => {
    expect(planArithmetic(theDefaultPlan, quick)).toEqual(planArithmetic(theDefaultPlan, quick));
  });

  it('says beforehand that a service that fails at 5 % may stay inconclusive', () => {
    const { outcomes } = planArithmetic(theDefaultPlan, { ...quick, errorRate: 0.05 });
    expect(outcomes[0]).toMatchObject({ stable: 0.05, canary: 0.05, rolledBack: 0 });
    expect(outcomes[0]?.inconclusive).toBeGreaterThan(0.02);
    expect(outcomes[0]?.inconclusive).toBeLessThan(0.5);
  });
});

describe('a plan whose requests cannot come', () => {
  it('is refused with the arithmetic', () => {
    expect(refusalOf(theDefaultPlan, 2)).toBe(
      'at 2 requests a second the steps take 1000 s at 1 % + 800 s at 5 % + 400 s at 25 % + 300 s at 50 % = 2500 s; ' +
        'the limit is 600 s, for which 8.4 requests a second are needed',
    );
    expect(planArithmetic(theDefaultPlan, { ...quick, ratePerSecond: 2 }).outcomes).toEqual([]);
  });

  it('is refused without any', () => {
    expect(refusalOf(theDefaultPlan, 0)).toContain('no end of s at 1 %');
  });

  it('is taken at the least rate', () => {
    const { leastRatePerSecond } = planArithmetic(theDefaultPlan, { ...quick, ratePerSecond: 2 });
    expect(refusalOf(theDefaultPlan, leastRatePerSecond)).toBeUndefined();
    expect(refusalOf(theDefaultPlan, leastRatePerSecond * 0.99)).toBeDefined();
  });

  it('is one whose limit is short', () => {
    const plan: CanaryPlan = { ...theDefaultPlan, limitMs: 90_000 };
    expect(refusalOf(plan, 50)).toContain('the limit is 90 s');
  });
});
