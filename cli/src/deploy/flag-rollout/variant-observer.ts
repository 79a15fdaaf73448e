import { DEAD_LETTERS_QUEUE } from '@shop/kit/topology.ts';
import type { MetricPoint } from '../../otlp/metric-store.ts';
import { type GuardReading, readTotalErrors } from '../analysis/guards.ts';
import type { CanaryPlan, Guard } from '../analysis/plan.ts';
import { evidenceBetween, missingIn, totalsOf } from '../analysis/read-evidence.ts';
import { followSlowLimit } from '../analysis/slow-limit.ts';
import { asAttempts, FLAG_DURATIONS, FLAG_OUTCOMES } from './points.ts';
import type { VariantObserver } from './rollout-engine.ts';

const QUEUE_MESSAGES = 'shop.queue.messages';

/** Both variants run in the same processes, so that only what they leave behind is watched. */
export const watchedGuards: readonly Guard[] = ['dead-letter', 'total-errors'];

export interface VariantSource {
  /** Latest points of these names. */
  metrics(names: readonly string[]): Promise<readonly MetricPoint[]>;
  /** The processes that evaluate the flag. */
  evaluators(): readonly string[];
  /** ms since 1970. */
  now(): number;
}

export async function openVariantObserver(
  { plan, flag }: { readonly plan: CanaryPlan; readonly flag: string },
  { metrics, evaluators, now }: VariantSource,
): Promise<VariantObserver> {
  const read = () => metrics([FLAG_OUTCOMES, FLAG_DURATIONS, QUEUE_MESSAGES]);
  const first = await read();
  const level = totalsOf(asAttempts(first, flag), flag);
  const deadLettersBefore = deadLettersIn(first);
  let before = asAttempts(first, flag);
  const slowLimit = followSlowLimit({ service: flag, above: plan.slow.above });
  slowLimit.add(before);

  return {
    level,
    async look({ evidence }) {
      const points = await read();
      const at = now();
      const attempts = asAttempts(points, flag);
      const on = evidence.reduce((sum, { arm, requests }) => (arm === 'canary' ? sum + requests : sum), 0);
      const slowAboveS = on >= plan.slow.warmUp ? slowLimit.current() : undefined;
      const added = evidenceBetween(before, attempts, { service: flag, at, slowAboveS });
      slowLimit.add(attempts);
      before = attempts;
      const total = readTotalErrors([...evidence, ...added], { before: level, margin: plan.margin, now: at });
      return {
        at,
        evidence: added,
        guards: [readDeadLetters(deadLettersBefore, deadLettersIn(points), at), total],
        missing: missingIn(attempts, evaluators()),
      };
    },
  };
}

function deadLettersIn(points: readonly MetricPoint[]): number | undefined {
  const point = points.find(
    ({ name, attributes, stale }) => name === QUEUE_MESSAGES && attributes.queue === DEAD_LETTERS_QUEUE && !stale,
  );
  return point?.type === 'histogram' ? undefined : point?.value;
}

function readDeadLetters(before: number | undefined, now: number | undefined, at: number): GuardReading {
  const reading = (state: GuardReading['state'], detail: string): GuardReading => ({
    guard: 'dead-letter',
    at,
    state,
    detail,
  });
  if (before === undefined || now === undefined)
    return reading('unknown', 'the broker does not say how many there are');
  return reading(now > before ? 'tripped' : 'held', `dead letters added: ${Math.max(0, now - before)}`);
}
