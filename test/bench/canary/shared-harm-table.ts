import { mulberry32 } from '@shop/kit/mulberry32.ts';
import { summarize } from '../../../cli/src/deploy/analysis/arithmetic.ts';
import type { CanaryPlan } from '../../../cli/src/deploy/analysis/plan.ts';
import { simulateRollout, type World } from '../../../cli/src/deploy/analysis/simulate.ts';
import { percent, runsOf, type Scale, type Table, within } from './table.ts';

const RUNS = 1_000;
const RATE = 50;
/** What the rollout is compared with: 30 s before it. */
const BEFORE = { requests: 1_500, bad: 0 };
const slow = 0.05;
const both = (bad: number) => ({ canary: { bad, slow }, stable: { bad, slow } });

const cases = [
  { title: 'overloads what both call, from a share of 25 % on: 10 % of all fail', from: 0.25, rate: 0.1, isHarm: true },
  { title: 'the same from a share of 5 % on', from: 0.05, rate: 0.1, isHarm: true },
  { title: 'the same, 3 % of all fail', from: 0.25, rate: 0.03, isHarm: true },
  { title: 'does no harm', from: 0.25, rate: 0, isHarm: false },
  { title: 'does no harm, 0.5 % of all fail as before', from: 0, rate: 0.005, isHarm: false },
] as const;

/** Harm that both arms share is not in a comparison of them: what the guard on all errors adds. */
export function sharedHarmTable(plan: CanaryPlan, scale: Scale): Table {
  const runs = runsOf(scale, RUNS);
  const measured = cases.map(({ title, from, rate, isHarm }, index) => {
    const truthAt: World['truthAt'] = (_second, share) => both(share >= from ? rate : 0);
    const before = isHarm ? BEFORE : { ...BEFORE, bad: Math.round(BEFORE.requests * rate) };
    const outcomeIn = (world: World) => {
      const random = mulberry32(scale.seed + index);
      return summarize(Array.from({ length: runs }, () => simulateRollout(plan, world, random)));
    };
    return {
      title,
      isHarm,
      alone: outcomeIn({ rate: RATE, truthAt }),
      guarded: outcomeIn({ rate: RATE, truthAt, before }),
    };
  });
  return {
    title: 'Harm that both arms share',
    note: `Rollouts at ${RATE} requests a second that are promoted by the tests alone, and with the guard \`total-errors\`. ${runs} runs a row.`,
    header: [
      'the canary',
      'promoted by the tests alone',
      'with the guard',
      'rolled back with the guard',
      'after, median',
    ],
    rows: measured.map(({ title, isHarm, alone, guarded }) => [
      title,
      percent(alone.promoted),
      percent(guarded.promoted),
      percent(guarded.rolledBack),
      isHarm ? `${guarded.medianSeconds} s` : '-',
    ]),
    promises: measured.map(({ title, isHarm, guarded }) => {
      const what = `the guard: a canary that ${title}`;
      if (isHarm) return { what, value: guarded.rolledBack, least: 0.9 };
      return { what, value: guarded.rolledBack, most: within(plan.errors.alpha + plan.slow.alpha, runs) };
    }),
  };
}
