import { canaryRequests, type Evidence, type Tally, tally } from './evidence.ts';
import { logExcess, logExcessWithoutBurst } from './excess.ts';
import type { GuardReading } from './guards.ts';
import { type CanaryPlan, type Guard, PROMOTION_EVIDENCE, type Step } from './plan.ts';
import type { Reason } from './reasons.ts';
import { logWithinMargin } from './within-margin.ts';

/** What the journal says about a rollout that is evaluated. */
export interface Rollout {
  readonly plan: CanaryPlan;
  /** When each step began, in ms since 1970; the last one is in force. */
  readonly stepsBegan: readonly number[];
  readonly evidence: readonly Evidence[];
  /** All readings; the last one of each guard holds, and one that tripped stays. */
  readonly guards: readonly GuardReading[];
  /** When the outcomes of all callers were read last; undefined before. */
  readonly readAt: number | undefined;
  /** For how long operators had it paused, ms: that does not count for the limit. */
  readonly pausedMs?: number;
}

/** `step`: go to the next step. `hold`: nothing can be decided yet. */
export type Decision = 'hold' | 'step' | 'promote' | 'rollback' | 'inconclusive';

/** A decision with what it is based on. The evidence is in logarithms: it exceeds what a number holds. */
export interface Verdict {
  readonly decision: Decision;
  /** Why: for `hold` and `inconclusive` everything that is missing. */
  readonly reasons: readonly Reason[];
  readonly canary: { readonly requests: number; readonly bad: number; readonly slow: number };
  readonly stable: { readonly requests: number; readonly bad: number; readonly slow: number };
  readonly tests: {
    readonly errors: TestReading;
    readonly slow: TestReading;
    readonly promotion: TestReading;
  };
}

export interface TestReading {
  readonly logEvidence: number;
  readonly logLimit: number;
  /** Nothing was measured: neither good nor bad is known. */
  readonly isUnknown: boolean;
}

/** One bad moment of an instance is shorter. */
const LEAST_SPAN_MS = 2_000;
/** Older outcomes are no evidence of what happens now. */
const STALE_MS = 10_000;

/** The verdict on a rollout at the time `now`. Pure: the journal alone determines it. Throws RangeError before the first step. */
export function evaluate(rollout: Rollout, now: number): Verdict {
  const { plan, evidence, guards, readAt } = rollout;
  return evaluateTally(tally(evidence), {
    plan,
    guards,
    stepsBegan: rollout.stepsBegan,
    isStale: readAt === undefined || now - readAt > STALE_MS,
    pausedMs: rollout.pausedMs ?? 0,
    now,
  });
}

/** What is known beside the counts. */
export interface Circumstances {
  readonly plan: CanaryPlan;
  readonly stepsBegan: readonly number[];
  readonly guards: readonly GuardReading[];
  readonly isStale: boolean;
  readonly pausedMs?: number;
  readonly now: number;
}

/** As `evaluate`, of counts. */
export function evaluateTally(counts: Tally, circumstances: Circumstances): Verdict {
  const { plan, stepsBegan, now } = circumstances;
  const step = plan.steps[stepsBegan.length - 1];
  const [began] = stepsBegan;
  if (step === undefined || began === undefined) throw new RangeError('there is no step in force');
  const tests = readTests(counts, plan);
  const { decision, reasons } = decide();
  return { decision, reasons, tests, canary: sumOf(counts, 'canary'), stable: sumOf(counts, 'stable') };

  function decide(): { readonly decision: Decision; readonly reasons: readonly Reason[] } {
    const harm = [...tripped(circumstances.guards, plan.guards), ...worse(tests, counts, plan)];
    if (harm.length > 0) return { decision: 'rollback', reasons: harm };
    const isLast = stepsBegan.length === plan.steps.length;
    const missing = [
      ...missingOfStep(step as Step, counts, circumstances),
      ...doubts(tests, counts, plan),
      ...(isLast ? missingOfPromotion(tests, circumstances) : []),
    ];
    const isOver = now - (began as number) - (circumstances.pausedMs ?? 0) >= plan.limitMs;
    if (missing.length === 0) return { decision: isLast ? 'promote' : 'step', reasons: [] };
    return { decision: isOver ? 'inconclusive' : 'hold', reasons: missing };
  }
}

function readTests({ shares }: Pick<Tally, 'shares'>, plan: CanaryPlan): Verdict['tests'] {
  const errors = shares.map(({ share, canary, stable }) => ({ share, canary: canary.bad, stable: stable.bad }));
  const slow = shares.map(({ share, canary, stable }) => ({ share, canary: canary.slow, stable: stable.slow }));
  const isTimed = shares.some(({ canary, stable }) => canary.timed > 0 && stable.timed > 0);
  const isCompared = shares.some(({ canary, stable }) => canary.requests > 0 && stable.requests > 0);
  return {
    errors: {
      logEvidence: logExcess(errors, plan.errors.tolerate),
      logLimit: -Math.log(plan.errors.alpha),
      isUnknown: !isCompared,
    },
    slow: {
      logEvidence: logExcess(slow, plan.slow.tolerate),
      logLimit: -Math.log(plan.slow.alpha),
      isUnknown: !isTimed,
    },
    promotion: {
      logEvidence: logWithinMargin(shares, plan.margin),
      logLimit: Math.log(PROMOTION_EVIDENCE),
      isUnknown: !isCompared,
    },
  };
}

const isReached = ({ logEvidence, logLimit }: TestReading) => logEvidence >= logLimit;

function tripped(readings: readonly GuardReading[], wanted: readonly Guard[]): Reason[] {
  return readings
    .filter(({ guard, state }) => state === 'tripped' && wanted.includes(guard))
    .map(({ guard, detail, at }) => ({ code: 'guard_tripped', guard, detail, at }));
}

/** Tests that condemn the canary. */
function worse({ errors, slow }: Verdict['tests'], counts: Tally, plan: CanaryPlan): Reason[] {
  return [
    ...(isReached(errors) && counts.badSpanMs >= LEAST_SPAN_MS ? [evidenceOf('errors', errors)] : []),
    ...(isReached(slow) && logSlowWithoutBurst(counts, plan) >= slow.logLimit ? [evidenceOf('slow', slow)] : []),
  ];
}

function logSlowWithoutBurst({ slowMoments }: Tally, { slow }: CanaryPlan): number {
  return logExcessWithoutBurst(slowMoments, slow.tolerate, LEAST_SPAN_MS);
}

const evidenceOf = (test: 'errors' | 'slow', { logEvidence, logLimit }: TestReading): Reason => ({
  code: 'worse',
  test,
  logEvidence,
  logLimit,
});

/** Tests that would condemn the canary, if what they saw were not so short. */
function doubts({ errors, slow }: Verdict['tests'], counts: Tally, plan: CanaryPlan): Reason[] {
  const leastMs = LEAST_SPAN_MS;
  return [
    ...(isReached(errors) ? [{ code: 'span_short', spanMs: counts.badSpanMs, leastMs } as const] : []),
    ...(isReached(slow)
      ? [{ code: 'one_burst', logEvidence: logSlowWithoutBurst(counts, plan), burstMs: leastMs } as const]
      : []),
  ];
}

function missingOfStep(step: Step, counts: Tally, { stepsBegan, plan, guards, isStale, now }: Circumstances): Reason[] {
  const have = canaryRequests(counts);
  const inStepMs = now - (stepsBegan.at(-1) ?? now);
  const last = new Map(guards.map((reading) => [reading.guard, reading]));
  return [
    ...(isStale ? [{ code: 'evidence_missing' } as const] : []),
    ...(have < step.requests ? [{ code: 'requests_missing', have, need: step.requests } as const] : []),
    ...(inStepMs < step.forMs ? [{ code: 'time_missing', haveMs: inStepMs, needMs: step.forMs } as const] : []),
    ...plan.guards.flatMap((guard): Reason[] => {
      const reading = last.get(guard);
      if (reading?.state === 'held') return [];
      return [{ code: 'guard_unknown', guard, detail: reading?.detail ?? 'it has not been read yet' }];
    }),
  ];
}

function missingOfPromotion({ slow, promotion }: Verdict['tests'], { plan }: Circumstances): Reason[] {
  return [
    ...(slow.isUnknown ? [{ code: 'slowness_unknown', warmUp: plan.slow.warmUp } as const] : []),
    ...(isReached(promotion)
      ? []
      : [{ code: 'margin_not_shown', margin: plan.margin, logEvidence: promotion.logEvidence } as const]),
  ];
}

function sumOf({ shares }: Tally, arm: 'canary' | 'stable'): Verdict['canary'] {
  return shares.reduce(
    (sum, { [arm]: { requests, bad, slow } }) => ({
      requests: sum.requests + requests,
      bad: sum.bad + bad,
      slow: sum.slow + slow,
    }),
    { requests: 0, bad: 0, slow: 0 },
  );
}
