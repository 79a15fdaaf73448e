import { durationMs, writeDuration } from '../../shared/duration.ts';
import type { Path, Problem } from '../../yaml/problem.ts';
import type { PlanDocument } from './plan-schema.ts';

/** What no schema can say of a plan. Parts that already have problems are skipped. Pure. */
export function checkPlan({ steps, limit, analysis }: PlanDocument, problems: readonly Problem[]): Problem[] {
  const isSound = (...path: Path) =>
    !problems.some((problem) => path.every((part, index) => problem.path[index] === part));
  const hasSteps = isSound('steps') && Array.isArray(steps);
  const hasLimit = isSound('limit') && limit !== undefined;
  const hasAnalysis = isSound('analysis') && analysis !== undefined;
  return [
    ...(hasSteps ? checkRising(steps, 'weight') : []),
    ...(hasSteps ? checkRising(steps, 'requests') : []),
    ...(hasSteps && hasLimit ? checkLimit(steps, limit) : []),
    ...(hasAnalysis ? checkMargin(analysis.margin) : []),
    ...(hasSteps && hasAnalysis ? checkWarmUp(steps, analysis.slow['warm-up']) : []),
  ];
}

type Steps = PlanDocument['steps'];

function checkRising(steps: Steps, key: 'weight' | 'requests'): Problem[] {
  return steps.slice(1).flatMap((step, index) => {
    const before = (steps[index] as Steps[number])[key];
    if (step[key] > before) return [];
    const counted = key === 'requests' ? ', counted since the rollout began' : '';
    return [{ path: ['steps', index + 1, key], message: `expected more than ${before} of the step before${counted}` }];
  });
}

function checkLimit(steps: Steps, limit: string): Problem[] {
  const leastMs = steps.reduce((sum, { for: least }) => sum + (durationMs(least) ?? 0), 0);
  if (leastMs <= (durationMs(limit) ?? 0)) return [];
  return [
    { path: ['limit'], message: `the steps take ${writeDuration(leastMs)} at least, which is more than ${limit}` },
  ];
}

function checkMargin(margin: string): Problem[] {
  const percent = Number.parseFloat(margin);
  if (percent > 0 && percent <= 50) return [];
  return [{ path: ['analysis', 'margin'], message: `expected more than 0% and at most 50%, got ${margin}` }];
}

function checkWarmUp(steps: Steps, warmUp: number): Problem[] {
  const all = steps.at(-1)?.requests ?? 0;
  if (warmUp < all) return [];
  const message = `the last step ends after ${all} requests, so slowness would never be evaluated`;
  return [{ path: ['analysis', 'slow', 'warm-up'], message: `${message}; state less` }];
}
