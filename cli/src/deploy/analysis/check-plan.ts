import { durationMs, writeDuration } from '../../shared/duration.ts';
import type { Path, Problem } from '../../yaml/problem.ts';
import type { PlanDocument } from './plan-schema.ts';

/** What no schema can say of a plan. Values that already have problems are skipped. Pure. */
export function checkPlan({ steps, limit, analysis }: PlanDocument, problems: readonly Problem[]): Problem[] {
  const isSound: IsSound = (...path) => !problems.some((problem) => isAtOrAround(problem.path, path));
  const hasSteps = Array.isArray(steps) && !problems.some(({ path }) => path[0] === 'steps' && path.length === 1);
  const hasLimit = limit !== undefined && isSound('limit');
  const hasMargin = analysis !== undefined && isSound('analysis', 'margin');
  const hasWarmUp = analysis !== undefined && isSound('analysis', 'slow', 'warm-up');
  return [
    ...(hasSteps ? checkRising(steps, 'weight', isSound) : []),
    ...(hasSteps ? checkRising(steps, 'requests', isSound) : []),
    ...(hasSteps && hasLimit && steps.every((_, index) => isSound('steps', index, 'for'))
      ? checkLimit(steps, limit)
      : []),
    ...(hasMargin ? checkMargin(analysis.margin) : []),
    ...(hasSteps && hasWarmUp && isSound('steps', steps.length - 1, 'requests')
      ? checkWarmUp(steps, analysis.slow['warm-up'])
      : []),
  ];
}

type IsSound = (...path: Path) => boolean;

/** What is wrong is this value, one that it is in, or one in it. */
function isAtOrAround(problem: Path, path: Path): boolean {
  return Array.from({ length: Math.min(problem.length, path.length) }).every((_, at) => problem[at] === path[at]);
}

type Steps = PlanDocument['steps'];

function checkRising(steps: Steps, key: 'weight' | 'requests', isSound: IsSound): Problem[] {
  return steps.slice(1).flatMap((step, index) => {
    if (!isSound('steps', index, key) || !isSound('steps', index + 1, key)) return [];
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
