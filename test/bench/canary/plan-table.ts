import { mulberry32 } from '@shop/kit/mulberry32.ts';
import { summarize } from '../../../cli/src/deploy/analysis/arithmetic.ts';
import { type CanaryPlan, PROMOTION_EVIDENCE } from '../../../cli/src/deploy/analysis/plan.ts';
import { drawBinomial, drawPoisson, type Random } from '../../../cli/src/deploy/analysis/random.ts';
import { simulateRollout, steadyWorld } from '../../../cli/src/deploy/analysis/simulate.ts';
import { argoLike } from './rivals.ts';
import { change, type Promised, percent, runsOf, type Scale, type Table, within } from './table.ts';

const cases = [
  { rate: 50, stable: 0, canary: 0 },
  { rate: 50, stable: 0.005, canary: 0.005 },
  { rate: 50, stable: 0.02, canary: 0.02 },
  { rate: 50, stable: 0.05, canary: 0.05 },
  { rate: 50, stable: 0, canary: 0.005 },
  { rate: 50, stable: 0, canary: 0.01 },
  { rate: 50, stable: 0, canary: 0.02 },
  { rate: 50, stable: 0, canary: 0.05 },
  { rate: 50, stable: 0, canary: 1 },
  { rate: 50, stable: 0.02, canary: 0.03 },
  { rate: 20, stable: 0, canary: 0 },
  { rate: 20, stable: 0.02, canary: 0.02 },
  { rate: 20, stable: 0, canary: 0.02 },
] as const;

const RUNS = 2_000;
const ARGO_STEP_SECONDS = 90;

/** The plan of the repository as a whole. */
export function planTable(plan: CanaryPlan, scale: Scale): Table {
  const runs = runsOf(scale, RUNS);
  const measured = cases.map((one, index) => {
    const random = mulberry32(scale.seed + index);
    const world = steadyWorld(one.rate, one.canary, one.stable);
    const outcome = summarize(Array.from({ length: runs }, () => simulateRollout(plan, world, random)));
    return { ...one, ...outcome, argo: argoPromotes(plan, one, { runs, random }) };
  });
  return {
    title: 'A whole rollout',
    note: `By \`deploy/plans/orders.yaml\`, with tests E, S and P. Argo-like: the same weights, ${ARGO_STEP_SECONDS} s each. ${runs} runs a row.`,
    header: [
      'requests a second',
      'error rate',
      'rolled back',
      'promoted',
      'inconclusive',
      'seconds, median and 95 %',
      'failed at the canary, median and 95 %',
      'Argo-like promotes',
    ],
    rows: measured.map((one) => [
      String(one.rate),
      change(one.stable, one.canary),
      percent(one.rolledBack),
      percent(one.promoted),
      percent(one.inconclusive),
      `${one.medianSeconds}, ${one.p95Seconds}`,
      `${one.medianFailed}, ${one.p95Failed}`,
      percent(one.argo),
    ]),
    promises: measured.flatMap(({ rate, stable, canary, rolledBack, promoted }): Promised[] => {
      const what = `the plan at ${rate}/s, ${change(stable, canary)}`;
      if (canary === stable) {
        const most = within(plan.errors.alpha + plan.slow.alpha, runs);
        return [{ what: `${what}: rolled back`, value: rolledBack, most }];
      }
      const excess = Number((canary - stable).toPrecision(6));
      if (excess < plan.margin) return [];
      const most = within(excess > plan.margin ? 0.002 : 1 / PROMOTION_EVIDENCE, runs);
      return [{ what: `${what}: promoted`, value: promoted, most }];
    }),
  };
}

/** The share of rollouts that an Argo-like rule promotes, with the weights of the plan. */
function argoPromotes(
  plan: CanaryPlan,
  { rate, stable, canary }: { rate: number; stable: number; canary: number },
  { runs, random }: { runs: number; random: Random },
): number {
  let promoted = 0;
  for (let run = 0; run < runs; run += 1) if (!isRolledBack()) promoted += 1;
  return promoted / runs;

  function isRolledBack(): boolean {
    const look = argoLike.start();
    for (const { share } of plan.steps) {
      for (let at = 0; at < ARGO_STEP_SECONDS; at += argoLike.intervalSeconds) {
        const requests = drawPoisson(random, rate * argoLike.intervalSeconds);
        const ofCanary = drawBinomial(random, requests, share);
        const interval = {
          canary: { requests: ofCanary, bad: drawBinomial(random, ofCanary, canary) },
          stable: { requests: requests - ofCanary, bad: drawBinomial(random, requests - ofCanary, stable) },
        };
        if (look(interval, false)) return true;
      }
    }
    return false;
  }
}
