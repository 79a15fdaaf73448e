import type { ResolvedExperiment, Step } from '../format/schema.ts';

/** Audit, steady state before and after: every experiment has them. ms. */
const FIXED_MS = 10_000;
/** Injecting, reverting, an order: a step takes about as long. ms. */
const STEP_MS = 500;
/** What a probe waits for comes long before its limit. */
const SHARE_OF_LIMIT = 0.25;

/** About how long a run takes, from what its file waits for, ms. Good enough to begin with the longest. */
export function estimateMs({ method, recovery }: Pick<ResolvedExperiment, 'method' | 'recovery'>): number {
  return [...method, ...recovery].reduce((sum, step) => sum + STEP_MS + waitsMs(step), FIXED_MS);
}

function waitsMs(step: Step): number {
  if (step.type === 'hold') return step.for;
  if (step.type === 'action' && step.provider.type === 'load') return step.provider.for ?? 0;
  const limit = 'within' in step ? (step.within ?? 0) * SHARE_OF_LIMIT : 0;
  return limit + ('for' in step ? (step.for ?? 0) : 0);
}
