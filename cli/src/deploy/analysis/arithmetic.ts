import { mulberry32 } from '@shop/kit/mulberry32.ts';
import { percentile } from '../../shared/statistics.ts';
import { requestsToShow } from './binomial.ts';
import { type CanaryPlan, PROMOTION_EVIDENCE } from './plan.ts';
import { type SimulatedRollout, simulateRollout, steadyWorld, type World } from './simulate.ts';

/** What a step is expected to take at a rate. */
export interface StepArithmetic {
  readonly share: number;
  /** Requests of the canary that it ends with, at least. */
  readonly requests: number;
  readonly seconds: number;
  /** Its least time is shorter than what its requests take. */
  readonly isByRequests: boolean;
}

/** How rollouts of one kind of release end. */
export interface Outcome extends Ends {
  /** Shares of the requests that fail. */
  readonly stable: number;
  readonly canary: number;
}

/** How rollouts of a release end that fails no more often, but responds more slowly. */
export interface SlowOutcome extends Ends {
  /** Share of its responses that are slower than the limit; of stable's responses it is the rest of `above`. */
  readonly slow: number;
}

/** How simulated rollouts ended. */
export interface Ends {
  /** Shares of the rollouts, from 0 to 1. */
  readonly rolledBack: number;
  readonly promoted: number;
  readonly inconclusive: number;
  readonly medianSeconds: number;
  readonly p95Seconds: number;
  /** Requests that failed at the canary by then. */
  readonly medianFailed: number;
  readonly p95Failed: number;
}

/** What a plan finds, and what it takes, before anybody waits for it. */
export interface PlanArithmetic {
  readonly ratePerSecond: number;
  readonly steps: readonly StepArithmetic[];
  /** Without a failure, up to the end of the last step. */
  readonly seconds: number;
  /** Why the plan cannot end within its limit at this rate; undefined where it can. */
  readonly refusal: string | undefined;
  /** The least rate with which it ends within its limit. */
  readonly leastRatePerSecond: number;
  /** Requests of the canary without a failure that alone would show the margin at 95 %. */
  readonly requestsForMargin: number;
  /** Chance to roll a good release back, over all looks, by either test. */
  readonly falseRollback: number;
  /** Chance ever to promote a release that is worse by the margin or more. */
  readonly falsePromotion: number;
  readonly outcomes: readonly Outcome[];
  readonly slowOutcomes: readonly SlowOutcome[];
  /** Rollouts that were simulated for each outcome. */
  readonly runs: number;
}

/** Rollouts that are simulated for each outcome: its share is known to 3 % or so. */
const RUNS = 400;
const SEED = 18;

/** How many times as many slow responses as stable has. */
const SLOW_TIMES = [1.5, 2, 4];

export interface ArithmeticOptions {
  readonly ratePerSecond: number;
  /** Share of requests that fail before the rollout. */
  readonly errorRate: number;
  readonly runs?: number;
}

export function planArithmetic(
  plan: CanaryPlan,
  { ratePerSecond, errorRate, runs = RUNS }: ArithmeticOptions,
): PlanArithmetic {
  const steps = stepsAt(plan, ratePerSecond);
  const refusal = refusalOf(plan, ratePerSecond);
  const rates = [0, plan.margin, 0.02, 0.05, 0.2, 1].map((excess) => Math.min(1, errorRate + excess));
  return {
    ratePerSecond,
    steps,
    seconds: secondsOf(steps),
    refusal,
    leastRatePerSecond: leastRate(plan),
    requestsForMargin: requestsToShow(plan.margin),
    falseRollback: plan.errors.alpha + plan.slow.alpha,
    falsePromotion: 1 / PROMOTION_EVIDENCE,
    outcomes:
      refusal === undefined
        ? [...new Set(rates)]
            .toSorted((a, b) => a - b)
            .map((canary) => simulatedOutcome(plan, { canary, stable: errorRate, ratePerSecond, runs }))
        : [],
    slowOutcomes:
      refusal === undefined
        ? SLOW_TIMES.map((times) => slowOutcome(plan, { times, stable: errorRate, ratePerSecond, runs }))
        : [],
    runs,
  };
}

/** Requests that come while a step waits for its time count for the next ones. */
export function stepsAt({ steps }: CanaryPlan, ratePerSecond: number): readonly StepArithmetic[] {
  let have = 0;
  return steps.map(({ share, requests, forMs }) => {
    const perSecond = ratePerSecond * share;
    const missing = Math.max(0, requests - have);
    const byRequests = missing === 0 ? 0 : missing / perSecond;
    const seconds = Math.max(forMs / 1_000, byRequests);
    have += seconds * perSecond;
    return { share, requests, seconds, isByRequests: byRequests > forMs / 1_000 };
  });
}

const secondsOf = (steps: readonly StepArithmetic[]) => steps.reduce((sum, { seconds }) => sum + seconds, 0);

/** Why the requests of a plan cannot come within its limit at this rate, with the arithmetic; undefined where they can. */
export function refusalOf(plan: CanaryPlan, ratePerSecond: number): string | undefined {
  const steps = stepsAt(plan, ratePerSecond);
  const limit = plan.limitMs / 1_000;
  if (secondsOf(steps) <= limit) return undefined;
  const sum = steps.map(({ share, seconds }) => `${whole(seconds)} s at ${percent(share)}`).join(' + ');
  return [
    `at ${Number(ratePerSecond.toPrecision(3))} requests a second the steps take ${sum} = ${whole(secondsOf(steps))} s`,
    `the limit is ${whole(limit)} s, for which ${rounded(leastRate(plan))} requests a second are needed`,
  ].join('; ');
}

const whole = (seconds: number) => (Number.isFinite(seconds) ? String(Math.ceil(seconds)) : 'no end of');
const percent = (share: number) => `${Number((share * 100).toPrecision(6))} %`;
const rounded = (rate: number) => Math.ceil(rate * 10) / 10;

/** The time falls with the rate, so that halving finds it. */
function leastRate(plan: CanaryPlan): number {
  const limit = plan.limitMs / 1_000;
  const fits = (rate: number) => secondsOf(stepsAt(plan, rate)) <= limit;
  let [low, high] = [0, 1];
  while (!fits(high) && high < 1e9) high *= 2;
  for (let halving = 0; halving < 40; halving += 1) {
    const middle = (low + high) / 2;
    if (fits(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function simulatedOutcome(
  plan: CanaryPlan,
  { canary, stable, ratePerSecond, runs }: { canary: number; stable: number; ratePerSecond: number; runs: number },
): Outcome {
  return { stable, canary, ...simulateOutcome(plan, steadyWorld(ratePerSecond, canary, stable), runs) };
}

function slowOutcome(
  plan: CanaryPlan,
  { times, stable, ratePerSecond, runs }: { times: number; stable: number; ratePerSecond: number; runs: number },
): SlowOutcome {
  const usual = 1 - plan.slow.above;
  const slow = Number((usual * times).toPrecision(12));
  const world = steadyWorld(ratePerSecond, stable, stable, { canary: slow, stable: usual });
  return { slow, ...simulateOutcome(plan, world, runs) };
}

/** How rollouts in a world end; the same for the same arguments. */
function simulateOutcome(plan: CanaryPlan, world: World, runs: number): Ends {
  const random = mulberry32(SEED);
  return summarize(Array.from({ length: runs }, () => simulateRollout(plan, world, random)));
}

export function summarize(rollouts: readonly SimulatedRollout[]): Ends {
  const shareOf = (decision: SimulatedRollout['decision']) =>
    rollouts.filter((one) => one.decision === decision).length / rollouts.length;
  const of = (key: 'seconds' | 'failed', share: number) =>
    percentile(
      rollouts.map((one) => one[key]),
      share,
    ) ?? 0;
  return {
    rolledBack: shareOf('rollback'),
    promoted: shareOf('promote'),
    inconclusive: shareOf('inconclusive'),
    medianSeconds: of('seconds', 0.5),
    p95Seconds: of('seconds', 0.95),
    medianFailed: of('failed', 0.5),
    p95Failed: of('failed', 0.95),
  };
}
