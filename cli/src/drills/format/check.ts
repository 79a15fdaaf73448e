import { seededBugs } from '@shop/kit/seeded-bug-names.ts';
import { findFault, targetsOf } from '../../chaos/catalog.ts';
import { messageOf } from '../../errors.ts';
import { instanceName, serviceNames } from '../../topology/services.ts';
import { didYouMean, type Path, type Problem } from '../../yaml/problem.ts';
import { parseReferenceLine } from './reference-lines.ts';
import { DECOYS_FROM_LEVEL, type Scenario } from './schema.ts';
import { components, plainComponents } from './vocabulary.ts';

/** What the reader knows beside the file. */
export interface ScenarioNames {
  /** Alerts that the rules have. */
  readonly alerts: readonly string[];
}

/** What no schema can say of a scenario. Parts that already have problems are skipped. Pure. */
export function checkScenario(scenario: Scenario, problems: readonly Problem[], names: ScenarioNames): Problem[] {
  const isSound = (...path: Path) =>
    !problems.some((problem) => path.every((part, index) => problem.path[index] === part));
  const of = (key: string, check: () => readonly Problem[]) => (isSound(key) ? check() : []);
  const shape = ['level', 'inject', 'truths', 'symptom', 'levers', 'clues', 'decoys'].every((key) => isSound(key));
  return [
    ...of('inject', () => checkTargets(scenario)),
    ...of('needs', () => checkNeeds(scenario, isSound('inject'))),
    ...of('quiet', () => checkQuiet(scenario)),
    ...of('truths', () => checkTruths(scenario)),
    ...of('pages', () => checkAlerts('pages', scenario, names)),
    ...of('may', () => checkAlerts('may', scenario, names)),
    ...of('decoys', () => checkDecoys(scenario)),
    ...(isSound('reference') && isSound('symptom') ? checkReference(scenario) : []),
    ...(shape ? checkShape(scenario) : []),
  ];
}

function checkTargets({ inject, needs }: Scenario): Problem[] {
  return inject.flatMap((injection, index): Problem[] => {
    const path: Path = ['inject', index];
    if (injection.type === 'release') {
      const own = Object.entries(seededBugs).filter(([, { service }]) => service === injection.service);
      return [
        ...checkName(injection.service, serviceNames, [...path, 'service'], 'service'),
        ...checkName(
          injection.bug,
          own.map(([bug]) => bug),
          [...path, 'bug'],
          `bug of ${injection.service}`,
        ),
      ];
    }
    if (injection.type !== 'fault') return [];
    const { scope } = findFault(injection.fault);
    const replicas = Object.entries(needs?.replicas ?? {}).flatMap(([service, count]) =>
      Array.from({ length: count }, (_, replica) => instanceName(service, replica + 1)),
    );
    const known = [...targetsOf(scope), ...(scope === 'process' || scope === 'instance' ? replicas : [])];
    return checkName(injection.target, known, [...path, 'target'], `target of ${injection.fault}`);
  });
}

function checkNeeds({ needs, inject }: Scenario, isInjectSound: boolean): Problem[] {
  const unknown = Object.keys(needs.replicas).flatMap((name) =>
    checkName(name, serviceNames, ['needs', 'replicas', name], 'service').map((one) => ({ ...one, isKey: true })),
  );
  const hasRelease = isInjectSound && inject.some(({ type }) => type === 'release');
  if (!hasRelease || needs.deploy) return unknown;
  return [...unknown, { path: ['needs'], message: 'a release needs deploy: true' }];
}

function checkQuiet({ quiet: { from, to } }: Scenario): Problem[] {
  return from <= to ? [] : [{ path: ['quiet', 'to'], message: 'it is shorter than from' }];
}

function checkTruths({ truths }: Scenario): Problem[] {
  return truths.flatMap(({ component, accept }, index): Problem[] => {
    const path: Path = ['truths', index];
    return [
      ...checkComponent(component, [...path, 'component']),
      ...accept.flatMap((other, at) => checkComponent(other.component, [...path, 'accept', at, 'component'])),
    ];
  });
}

function checkComponent(name: string, path: Path): Problem[] {
  if (components.includes(name)) return [];
  const known = [...plainComponents, 'replica:SERVICE-N'];
  return [{ path, message: `unknown component "${name}"${didYouMean(name, components)}: one of ${known.join(', ')}` }];
}

function checkAlerts(key: 'pages' | 'may', scenario: Scenario, { alerts }: ScenarioNames): Problem[] {
  return scenario[key].flatMap((name, index) => checkName(name, alerts, [key, index], 'alert'));
}

function checkDecoys({ decoys }: Scenario): Problem[] {
  return decoys.flatMap(({ do: what, target }, index) =>
    what === 'restart' ? checkName(target, serviceNames, ['decoys', index, 'target'], 'service') : [],
  );
}

function checkReference({ reference, symptom }: Scenario): Problem[] {
  return reference.flatMap((line, index): Problem[] => {
    try {
      const { kind } = parseReferenceLine(line);
      if (kind !== 'wait-symptom' || symptom.of === 'metric') return [];
      return [{ path: ['reference', index], message: 'it waits for a metric, and the symptom is of none' }];
    } catch (error) {
      return [{ path: ['reference', index], message: messageOf(error) }];
    }
  });
}

/** What goes together. */
function checkShape(scenario: Scenario): Problem[] {
  const { level, inject, truths, symptom, levers, clues, decoys, pages, may, id } = scenario;
  const problem = (key: string, message: string): Problem => ({ path: [key], message });
  const isNone = truths.some(({ component, mechanism }) => component === 'none' || mechanism === 'none');
  const isWholeNone = truths.every(
    (one) => one.component === 'none' && one.mechanism === 'none' && one.scope === 'none',
  );
  const none: readonly (Problem | undefined)[] = [
    isNone && !isWholeNone ? problem('truths', 'without a failure component, mechanism and scope are none') : undefined,
    isWholeNone && truths.length > 1 ? problem('truths', 'a round without a failure has one truth') : undefined,
    isWholeNone !== (level === 0)
      ? problem('level', 'level 0 is for rounds without a failure, and for no others')
      : undefined,
    isWholeNone !== (symptom.of === 'none')
      ? problem('symptom', isWholeNone ? 'a round without a failure has none' : 'a failure has a symptom')
      : undefined,
    isWholeNone && levers.length > 0 ? problem('levers', 'there is nothing to cure') : undefined,
    isWholeNone && pages.length > 0 ? problem('pages', 'a round without a failure has none') : undefined,
    isWholeNone && may.length > 0 ? problem('may', 'a round without a failure has none') : undefined,
    pages.length > 0 && may.length > 0
      ? problem('may', 'where a page is stated, others may fire in any case')
      : undefined,
  ];
  const failure: readonly (Problem | undefined)[] = isWholeNone
    ? []
    : [
        inject.length === 0 ? problem('inject', 'a failure needs an injection') : undefined,
        levers.length === 0 ? problem('levers', 'a failure needs an action that cures it') : undefined,
        clues.some(({ stage }) => stage === 'locate')
          ? undefined
          : problem('clues', 'none says where it is: stage locate'),
      ];
  const others: readonly (Problem | undefined)[] = [
    id.startsWith(`d${level}`) ? undefined : problem('id', `an id of level ${level} begins with d${level}`),
    decoys.length > 0 && level > 0 && level < DECOYS_FROM_LEVEL
      ? problem('decoys', `there are decoys from level ${DECOYS_FROM_LEVEL} on`)
      : undefined,
  ];
  return [...none, ...failure, ...others].filter((one) => one !== undefined);
}

function checkName(name: string, known: readonly string[], path: Path, what: string): Problem[] {
  if (known.includes(name)) return [];
  return [{ path, message: `unknown ${what} "${name}"${didYouMean(name, known)}: one of ${known.join(', ')}` }];
}
