import { findFault } from '../../chaos/catalog.ts';
import type { PlatformAccess } from '../../chaos/platform-access.ts';
import { CliError } from '../../errors.ts';
import type { Project } from '../../platform/project.ts';
import { systemClock } from '../../shared/clock.ts';
import { exitCodeOf } from '../../shared/verdict.ts';
import type { FoundExperiment } from '../format/catalog.ts';
import type { ResolvedExperiment } from '../format/schema.ts';
import { createJournal } from '../journal.ts';
import { countDeclared } from './faults-in-effect.ts';
import { createRunFolder } from './run-folder.ts';
import { type FinishedRun, runRecord } from './run-one.ts';

/** An experiment that cannot be carried out: by no platform on this machine, or not by the one that runs. */
export interface Unavailable {
  readonly found: FoundExperiment;
  /** Exit code 3. */
  readonly obstacle: CliError;
}

/** What faults need of the machine; asking may install it. */
type Host = Pick<PlatformAccess, 'libfaketime'>;

/** The experiments that are not available on this machine. */
export async function findUnavailable(
  experiments: readonly FoundExperiment[],
  host: Host,
): Promise<readonly Unavailable[]> {
  const looked = await Promise.all(
    experiments.map(async (found) => ({ found, obstacle: await hostObstacle(found.experiment, host) })),
  );
  return looked.flatMap(({ found, obstacle }) => (obstacle === undefined ? [] : [{ found, obstacle }]));
}

/** The first missing requirement of its faults; undefined when nothing is missing. */
async function hostObstacle({ method }: Pick<ResolvedExperiment, 'method'>, host: Host): Promise<CliError | undefined> {
  const faults = method.flatMap((step) =>
    step.type === 'action' && step.provider.type === 'fault' ? [step.provider.fault] : [],
  );
  for (const name of new Set(faults)) {
    const obstacle = await findFault(name).hostObstacle?.(host);
    if (obstacle !== undefined) return obstacle;
  }
  return undefined;
}

/** Throws CliError (3) when there are any. Nothing has happened by then. */
export function refuseUnavailable(unavailable: readonly Unavailable[]): void {
  const [first] = unavailable;
  if (first === undefined) return;
  throw new CliError({
    code: 'experiment_unavailable',
    what: `not available here: ${unavailable.map(({ found }) => found.experiment.id).join(', ')}`,
    why: unavailable.map(({ found, obstacle }) => `${found.experiment.id}: ${obstacle.message}`).join('\n'),
    ...(first.obstacle.next !== undefined && { next: first.obstacle.next }),
  });
}

/** Its run: a journal whose verdict is unknown and names what is missing. Nothing is done to any platform. */
export async function recordUnavailable(
  { found, obstacle }: Unavailable,
  { project, seed = found.experiment.seed }: { project: Project; seed: number | undefined },
): Promise<FinishedRun> {
  const { experiment, file } = found;
  const { id, platform } = experiment;
  const folder = await createRunFolder(project, { id, seed, at: new Date() });
  const journal = createJournal(folder.journal, systemClock);
  journal.write(
    runRecord({ experiment, file, seed, platformProject: project, seededBugs: platform['seeded-bugs'] }, folder),
  );
  const reasons = [`not available here: ${obstacle.message}${obstacle.next === undefined ? '' : `; ${obstacle.next}`}`];
  const told = { verdict: 'unknown', exitCode: exitCodeOf('unknown'), reasons, tookMs: 0 } as const;
  journal.write({ type: 'verdict', ...told, clocks: {} });
  await journal.close();
  return { id, folder, ...told, faults: { declared: countDeclared(experiment), inEffect: 0 } };
}
