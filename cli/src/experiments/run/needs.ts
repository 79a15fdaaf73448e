import { CliError } from '../../errors.ts';
import type { PlatformState } from '../../platform/state.ts';
import type { FoundExperiment } from '../format/catalog.ts';
import type { PlatformNeeds } from '../format/schema.ts';

/**
 * Needs that one platform of the run's own meets have the same text, whatever the order of their keys. Failpoints are not
 * among them: such a platform always has them.
 */
export function needsKey({ replicas, env, alerts, 'seeded-bugs': seededBugs }: PlatformNeeds): string {
  const sorted = (record: Readonly<Record<string, unknown>>) =>
    Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted(replicas), sorted(env), [...seededBugs].sort(), alerts]);
}

/** What is missing where no rules are evaluated, and how it is added. */
const ALERTS = 'alerts ("shopctl up --with alerts" adds them)';

/** What of an experiment's needs the running platform does not meet; empty when it can run there. */
function unmet(
  { failpoints, replicas, env, alerts, 'seeded-bugs': seededBugs }: PlatformNeeds,
  state: PlatformState,
): string[] {
  const present: readonly string[] = state.seededBugs ?? [];
  const count = (service: string) => state.instances.filter((instance) => instance.service === service).length;
  return [
    ...(failpoints && !state.failpoints ? ['services with failpoints'] : []),
    ...(alerts && !state.instances.some(({ service }) => service === 'prometheus') ? [ALERTS] : []),
    ...Object.entries(replicas)
      .filter(([service, wanted]) => count(service) !== wanted)
      .map(([service, wanted]) => `${wanted} replicas of ${service}`),
    // It is unknown from outside with which environment a service was started.
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...seededBugs.filter((name) => !present.includes(name)).map((name) => `the seeded bug ${name}`),
    ...present.filter((name) => !seededBugs.includes(name)).map((name) => `services without the seeded bug ${name}`),
  ];
}

/** With seeded bugs in it, the platform was most likely started to see whether an experiment finds them. */
function wayOut({ seededBugs = [] }: PlatformState): string {
  if (seededBugs.length === 0)
    return 'run them on an ephemeral platform with --fresh, or start the platform as they need it';
  return `give "chaos run" the same seeded bugs, ${seededBugs.map((name) => `--seed-bug ${name}`).join(' ')}, or run them on an ephemeral platform with --fresh`;
}

/** Throws CliError (3) when the running platform does not meet what the experiments need. Nothing has happened by then. */
export function refuseUnmet(experiments: readonly FoundExperiment[], state: PlatformState): void {
  const problems = experiments.flatMap(({ experiment }) => {
    const missing = unmet(experiment.platform, state);
    return missing.length === 0 ? [] : [`${experiment.id} needs ${missing.join(', ')}`];
  });
  if (problems.length === 0) return;
  throw new CliError({
    code: 'experiment_unavailable',
    what: 'the running platform is not what these experiments need',
    why: problems.join('\n'),
    next: wayOut(state),
  });
}
