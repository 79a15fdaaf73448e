import { type Decision, evaluateTally } from './evaluate.ts';
import { type Counts, noCounts, type ShareCounts, type SlowMoment } from './evidence.ts';
import { isAbove, type Level, TOTAL_WINDOW_MS } from './guards.ts';
import type { CanaryPlan } from './plan.ts';
import { drawBinomial, drawPoisson, type Random } from './random.ts';

/** What is true of both arms in one second, as shares from 0 to 1. */
export interface Truth {
  readonly canary: { readonly bad: number; readonly slow: number };
  readonly stable: { readonly bad: number; readonly slow: number };
}

/** What a simulated rollout meets: requests a second, and the truth at each second, given the share in force. */
export interface World {
  readonly rate: number;
  /** Outcomes before the rollout; with them the guard on total errors looks too, where the plan has it. */
  readonly before?: Level;
  truthAt(second: number, share: number): Truth;
}

/** How a simulated rollout ended. */
export interface SimulatedRollout {
  readonly decision: Exclude<Decision, 'hold' | 'step'>;
  readonly seconds: number;
  /** Requests of the canary that failed by then. */
  readonly failed: number;
}

/** A world that does not change. */
export function steadyWorld(
  rate: number,
  canaryBad: number,
  stableBad: number,
  slow = { canary: 0.05, stable: 0.05 },
): World {
  const truth = {
    canary: { bad: canaryBad, slow: slow.canary },
    stable: { bad: stableBad, slow: slow.stable },
  };
  return { rate, truthAt: () => truth };
}

/**
 * A rollout by `plan` in `world`, second by second, with the decisions of the real one. Other guards than that on total errors hold:
 * what they see is not simulated. The requests of a second are drawn as one batch, so that a rollout costs less than a millisecond.
 */
export function simulateRollout(plan: CanaryPlan, world: World, random: Random): SimulatedRollout {
  const shares: ShareCounts[] = [];
  const stepsBegan: number[] = [];
  const bad = { first: -1, last: -1 };
  const slowMoments: SlowMoment[] = [];
  const circumstances = { plan: { ...plan, guards: [] }, guards: [], stepsBegan, isStale: false };
  const hasGuard = world.before !== undefined && plan.guards.includes('total-errors');
  const recent: Level[] = [];
  let [canaryRequests, failed] = [0, 0];

  function begin(second: number): void {
    stepsBegan.push(second * 1_000);
    const share = plan.steps[stepsBegan.length - 1]?.share ?? 0;
    shares.push({ share, canary: noCounts(), stable: noCounts() });
  }

  /** The requests of one second at the share in force. Failures of the canary. */
  function serve(second: number): number {
    const { share, canary, stable } = shares.at(-1) as ShareCounts;
    const truth = world.truthAt(second, share);
    const requests = drawPoisson(random, world.rate);
    const ofCanary = drawBinomial(random, requests, share);
    const isTimed = canaryRequests >= plan.slow.warmUp;
    canaryRequests += ofCanary;
    const atStable = draw(stable, requests - ofCanary, truth.stable, isTimed);
    const atCanary = draw(canary, ofCanary, truth.canary, isTimed);
    if (hasGuard) recent.push({ requests, bad: atStable.bad + atCanary.bad });
    if (atCanary.slow + atStable.slow > 0)
      slowMoments.push({ at: second * 1_000, share, canary: atCanary.slow, stable: atStable.slow });
    return atCanary.bad;
  }

  function isGuardTripped(): boolean {
    if (world.before === undefined || !hasGuard) return false;
    if (recent.length > TOTAL_WINDOW_MS / 1_000) recent.shift();
    const total = recent.reduce((sum, one) => ({ requests: sum.requests + one.requests, bad: sum.bad + one.bad }));
    return isAbove(total, { before: world.before, margin: plan.margin });
  }

  function draw(
    counts: Counts,
    requests: number,
    truth: Truth['canary'],
    isTimed: boolean,
  ): Level & { readonly slow: number } {
    const bad = drawBinomial(random, requests, truth.bad);
    const slow = isTimed ? drawBinomial(random, requests - bad, truth.slow) : 0;
    counts.requests += requests;
    counts.bad += bad;
    counts.slow += slow;
    if (isTimed) counts.timed += requests - bad;
    return { requests, bad, slow };
  }

  begin(0);
  for (let second = 1; ; second += 1) {
    const seen = serve(second);
    failed += seen;
    note(bad, seen, second);
    if (isGuardTripped()) return { decision: 'rollback', seconds: second, failed };
    const counts = { shares, badSpanMs: spanMs(bad), slowMoments };
    const { decision } = evaluateTally(counts, { ...circumstances, now: second * 1_000 });
    if (decision === 'step') begin(second);
    else if (decision !== 'hold') return { decision, seconds: second, failed };
  }
}

const spanMs = ({ first, last }: { first: number; last: number }) => (last - first) * 1_000;

function note(span: { first: number; last: number }, count: number, second: number): void {
  if (count === 0) return;
  if (span.first < 0) span.first = second;
  span.last = second;
}
