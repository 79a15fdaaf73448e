import { type EdgeName, edges } from '@shop/kit/edges.ts';
import { isSeededBugName, seededBugs } from '@shop/kit/seeded-bug-names.ts';
import { didYouMean, type Path, type Problem } from '../../yaml/problem.ts';
import { isObject } from '../../yaml/read.ts';
import { checkNames } from './check-names.ts';
import { type CheckContext, checkEvent, checkStep } from './check-steps.ts';
import type { EventCondition, PlatformNeeds, ResolvedExperiment } from './schema.ts';
import { type PlacedStep, stepsOf } from './step-list.ts';

/** What files refer to by name. */
export type Known = Omit<CheckContext, 'platform'>;

/**
 * What no schema can say of an experiment: names that refer to each other, targets, checks that mean nothing. Parts that
 * already have problems are skipped, so that each mistake is reported once. Pure.
 */
export function checkExperiment(experiment: ResolvedExperiment, problems: readonly Problem[], known: Known): Problem[] {
  const isSound = (path: Path) => !problems.some((problem) => startsWith(problem.path, path));
  const steps = stepsOf(experiment);
  const sound = steps.filter(({ path }) => isSound(path));
  const platform = platformOf(experiment, isSound(['platform']));
  return [
    ...checkNames(steps, new Set(sound.map(({ step }) => step))),
    ...sound.flatMap((placed) => checkStep(placed, { platform, ...known })),
    ...(['reach', 'never'] as const).flatMap((list) => checkEvents(experiment, list, { platform, isSound, ...known })),
    ...(isSound(['platform']) ? checkPlatform(experiment.platform) : []),
    ...(isSound(['budget']) ? checkBudget(experiment.budget, sound) : []),
    ...(isSound(['audit']) ? checkAudit(experiment) : []),
  ];
}

function startsWith(path: Path, prefix: Path): boolean {
  return prefix.every((part, index) => path[index] === part);
}

/** With failpoints when the needs themselves are wrong: whether failpoints are available is not reported then. */
function platformOf({ platform }: ResolvedExperiment, isSound: boolean): PlatformNeeds {
  return isSound ? platform : { failpoints: true, replicas: {}, env: {}, 'seeded-bugs': [], alerts: false };
}

const edgeVariables = (Object.keys(edges) as EdgeName[]).flatMap((name) =>
  Object.keys(edges[name]).map((field) => edgeVariable(name, field)),
);

/** `EDGE_ORDERS_PAYMENTS_ATTEMPT_TIMEOUT_MS`, as kit/src/edges.ts reads it. */
function edgeVariable(edge: EdgeName, field: string): string {
  const words = field.replace(/[A-Z]/g, (letter) => `_${letter}`);
  return `EDGE_${edge.replaceAll('-', '_')}_${words}`.toUpperCase();
}

function checkPlatform({ env, 'seeded-bugs': bugs, failpoints }: PlatformNeeds): Problem[] {
  const names = Object.keys(env).filter((name) => name.startsWith('EDGE_') && !edgeVariables.includes(name));
  const known = Object.keys(seededBugs);
  return [
    ...names.map((name) => ({
      path: ['platform', 'env', name],
      message: `no service reads ${name}${didYouMean(name, edgeVariables)}`,
      isKey: true,
    })),
    ...bugs.flatMap((name, index): Problem[] =>
      isSeededBugName(name)
        ? []
        : [
            {
              path: ['platform', 'seeded-bugs', index],
              message: `unknown bug "${name}"${didYouMean(name, known)}: one of ${known.join(', ')}`,
            },
          ],
    ),
    ...(bugs.length > 0 && !failpoints
      ? [{ path: ['platform', 'seeded-bugs'], message: 'seeded bugs need failpoints: true' }]
      : []),
  ];
}

interface EventSurroundings extends CheckContext {
  isSound(path: Path): boolean;
}

function checkEvents(
  experiment: ResolvedExperiment,
  list: 'reach' | 'never',
  { isSound, ...context }: EventSurroundings,
): Problem[] {
  const events: unknown = experiment[list];
  if (!Array.isArray(events)) return [];
  return events.flatMap((event: EventCondition, index) => {
    const path = [list, index];
    if (!isObject(event) || !isSound(path)) return [];
    if (list === 'never' && 'exactly' in event) {
      return [{ path: [...path, 'exactly'], message: 'never takes no exact number; use at-least', isKey: true }];
    }
    return checkEvent(event, path, context);
  });
}

/** A run that its own holds make longer than its budget could only end as unknown. */
function checkBudget(budget: number, steps: readonly PlacedStep[]): Problem[] {
  const waits = steps.map(({ step }) =>
    'for' in step && !('background' in step && step.background) ? (step.for ?? 0) : 0,
  );
  const sum = waits.reduce((total, wait) => total + wait, 0);
  if (sum < budget) return [];
  return [
    { path: ['budget'], message: `holds and "for" take ${sum / 1000}s together, the budget is ${budget / 1000}s` },
  ];
}

function checkAudit({ audit }: ResolvedExperiment): Problem[] {
  return Object.keys(audit.expect)
    .filter((id) => id in audit.accept)
    .map((id) => ({
      path: ['audit', 'accept', id],
      message: `${id} is expected to fail; it cannot be accepted too`,
      isKey: true,
    }));
}
