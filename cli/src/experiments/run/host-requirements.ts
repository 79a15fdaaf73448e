import { findFault } from '../../chaos/catalog.ts';
import type { PlatformAccess } from '../../chaos/platform-access.ts';
import { CliError, messageOf } from '../../errors.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import type { Project } from '../../platform/project.ts';
import { systemClock } from '../../shared/clock.ts';
import { exitCodeOf } from '../../shared/verdict.ts';
import type { FoundExperiment } from '../format/catalog.ts';
import type { ResolvedExperiment } from '../format/schema.ts';
import { createJournal } from '../journal.ts';
import { createExperimentFolder } from './experiment-folder.ts';
import { countDeclared } from './faults-in-effect.ts';
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

/** Its run: nothing is done to any platform. */
export function recordUnavailable({ found, obstacle }: Unavailable, where: Where): Promise<FinishedRun> {
  return recordNotRun(found, `not available here: ${textOf(obstacle)}`, exitCodeOf('unknown'), where);
}

/** The run of an experiment whose platform did not start: unknown, with the exit code of what could not run. */
export function recordNotStarted(found: FoundExperiment, error: unknown, where: Where): Promise<FinishedRun> {
  return recordNotRun(
    found,
    `could not run: its platform did not start: ${textOf(error)}`,
    exitCodes.unavailable,
    where,
  );
}

function textOf(error: unknown): string {
  const next = error instanceof CliError ? error.next : undefined;
  return `${messageOf(error)}${next === undefined ? '' : `; ${next}`}`;
}

/** Where it is recorded, and with which seed. */
interface Where {
  readonly project: Project;
  readonly seed: number | undefined;
}

/** A journal whose verdict is unknown and says why. */
async function recordNotRun(
  { experiment, file }: FoundExperiment,
  reason: string,
  exitCode: ExitCode,
  { project, seed = experiment.seed }: Where,
): Promise<FinishedRun> {
  const { id, platform } = experiment;
  const folder = await createExperimentFolder(project, { id, seed });
  const journal = createJournal(folder.journal, systemClock);
  journal.write(
    runRecord({ experiment, file, seed, platformProject: project, seededBugs: platform['seeded-bugs'] }, folder),
  );
  const reported = { verdict: 'unknown', exitCode, reasons: [reason], tookMs: 0 } as const;
  journal.write({ type: 'verdict', ...reported, clocks: {} });
  await journal.close();
  return { id, folder, ...reported, faults: { declared: countDeclared(experiment), inEffect: 0 } };
}
