import { didYouMean, type Path, type Problem } from '../yaml/problem.ts';
import { isLongEnough, knownWindows, leastWindowMs, type Profile, profiles } from './profiles.ts';
import { type SloDocument, WINDOW } from './schema.ts';
import { badShareOf } from './slo.ts';
import { windowMs, writeWindow } from './window.ts';

type Spec = SloDocument['spec'];
type Policy = Spec['alertPolicies'][number];
type Condition = Policy['spec']['conditions'][number];

/** What no schema can say of an SLO. Parts that already have problems are skipped. Pure. */
export function checkSlo({ spec }: SloDocument, problems: readonly Problem[]): Problem[] {
  const isSound = (path: Path) =>
    !problems.some((problem) => path.every((part, index) => problem.path[index] === part));
  const of = (path: Path, check: () => Problem[]) => (isSound(path) ? check() : []);
  return [
    ...of(['spec', 'indicator'], () => checkIndicator(spec.indicator)),
    ...of(['spec', 'objectives'], () => checkObjectives(spec.objectives)),
    ...of(['spec', 'timeWindow'], () =>
      checkWindow(spec.timeWindow[0]?.duration ?? '', ['spec', 'timeWindow', 0, 'duration']),
    ),
    ...of(['spec', 'alertPolicies'], () => checkPolicies(spec, isSound)),
  ];
}

function checkIndicator({ spec: { ratioMetric: ratio } }: Spec['indicator']): Problem[] {
  const path: Path = ['spec', 'indicator', 'spec', 'ratioMetric'];
  const sides = (['good', 'bad', 'total'] as const).filter((side) => ratio[side] !== undefined);
  const both = ratio.good !== undefined && ratio.bad !== undefined;
  const neither = ratio.good === undefined && ratio.bad === undefined;
  return [
    ...(both
      ? [{ path: [...path, 'bad'], message: 'good and bad are both there; state one of them', isKey: true }]
      : []),
    ...(neither ? [{ path, message: 'good or bad is missing: state one of them beside total' }] : []),
    ...sides.flatMap((side): Problem[] => {
      const has = ratio[side]?.metricSource.spec.query.includes(WINDOW) ?? false;
      if (has === ratio.counter) return [];
      const at = [...path, side, 'metricSource', 'spec', 'query'];
      return has
        ? [{ path: at, message: `the query of a gauge has no window; leave [${WINDOW}] out, or state counter: true` }]
        : [{ path: at, message: `the query of a counter is a rate over [${WINDOW}], which is missing` }];
    }),
  ];
}

function checkObjectives(objectives: Spec['objectives']): Problem[] {
  const path: Path = ['spec', 'objectives'];
  const seen = new Set<string>();
  const single = objectives.flatMap(({ displayName, target }, index): Problem[] => {
    const isTwice = seen.has(displayName);
    seen.add(displayName);
    return [
      ...checkTarget(target, [...path, index, 'target']),
      ...(isTwice ? [{ path: [...path, index], message: `there is an objective for ${displayName} already` }] : []),
    ];
  });
  const missing = Object.keys(profiles).filter((profile) => !seen.has(profile) && !seen.has('any'));
  return missing.length === 0
    ? single
    : [...single, { path, message: `there is no objective for ${missing.join(' and ')}` }];
}

function checkTarget(target: number, path: Path): Problem[] {
  if (target === 1 || target === 100) {
    const message = 'an objective of 100 % has no budget: one bad request would break it for the whole window';
    return [{ path, message: `${message}; state less than 1` }];
  }
  if (target < 1) return [];
  const hint = target < 100 ? `: ${Number((target / 100).toPrecision(12))} for ${target} %` : '';
  return [{ path, message: `expected a share below 1, got ${target}${hint}` }];
}

/** A window of the file, in each profile. */
function checkWindow(written: string, path: Path): Problem[] {
  return Object.values(profiles).flatMap((profile): Problem[] => {
    const window = profile.windowFor(written);
    if (window === undefined) {
      const known = knownWindows();
      const hint = didYouMean(written, known);
      return [{ path, message: `${profile.name} has no window for ${written}${hint}: one of ${known.join(', ')}` }];
    }
    return isLongEnough(window, profile) ? [] : [{ path, message: tooShort(window, profile) }];
  });
}

function tooShort(window: string, profile: Profile): string {
  const every = writeWindow(profile.scrapeMs);
  const least = writeWindow(leastWindowMs(profile));
  return `${window} is too short for ${profile.name}, which is scraped every ${every}: the least is ${least}`;
}

function checkPolicies(spec: Spec, isSound: (path: Path) => boolean): Problem[] {
  const path: Path = ['spec', 'alertPolicies'];
  const worst = isSound(['spec', 'objectives'])
    ? Math.max(...spec.objectives.map(({ target }) => badShareOf(target)))
    : 0;
  const budgetWindow = isSound(['spec', 'timeWindow']) ? spec.timeWindow[0]?.duration : undefined;
  return spec.alertPolicies.flatMap(({ spec: { conditions } }, policy) =>
    conditions.flatMap((condition, index) => {
      const at = [...path, policy, 'spec', 'conditions', index, 'spec', 'condition'];
      return checkCondition(condition, at, { worst, budgetWindow });
    }),
  );
}

function checkCondition(
  { spec: { condition } }: Condition,
  at: Path,
  { worst, budgetWindow }: { readonly worst: number; readonly budgetWindow: string | undefined },
): Problem[] {
  const { threshold, lookbackWindow: long, alertAfter: short } = condition;
  const isBelow = (a: string, b: string) => (windowMs(a) ?? 0) < (windowMs(b) ?? 0);
  const share = Number((threshold * worst).toPrecision(12));
  return [
    ...checkWindow(long, [...at, 'lookbackWindow']),
    ...checkWindow(short, [...at, 'alertAfter']),
    ...(isBelow(short, long)
      ? []
      : [problem('alertAfter', `expected less than lookbackWindow (${long}), got ${short}`)]),
    ...(budgetWindow === undefined || isBelow(long, budgetWindow)
      ? []
      : [problem('lookbackWindow', `expected less than the time window (${budgetWindow}), got ${long}`)]),
    ...(share < 1
      ? []
      : [
          problem(
            'threshold',
            `${threshold} times the budget is ${Math.round(share * 100)} % of all: it could never fire`,
          ),
        ]),
  ];

  function problem(key: string, message: string): Problem {
    return { path: [...at, key], message };
  }
}
