import { join } from 'node:path';
import { CliError } from '../errors.ts';
import { lockHolder, takeProjectLock } from '../process/project-lock.ts';
import type { Project } from './project.ts';
import { makeStateFolder } from './state-folder.ts';

/** Concurrent runs would see each other's faults and orders; a load is one too. Free again after kill -9. */
export async function holdRuns(project: Project): Promise<AsyncDisposable> {
  await makeStateFolder(join(project.stateDir, 'chaos'));
  const lock = await takeProjectLock(lockFileOf(project));
  if (lock === undefined) {
    throw new CliError({
      code: 'run_in_progress',
      what: `an experiment, a load or a drill runs already on ${project.name}`,
      why: 'concurrent runs would see each other’s faults and orders',
      next: 'wait for the other run to end, or choose another project with --project',
    });
  }
  // The project's folder may be gone by then (down -v), and the lock with it.
  return { [Symbol.asyncDispose]: () => lock.release().catch(() => undefined) };
}

/** True while an experiment, a load or a drill runs on the project. */
export async function isRunInProgress(project: Project): Promise<boolean> {
  return (await lockHolder(lockFileOf(project))) !== undefined;
}

function lockFileOf({ stateDir }: Project): string {
  return join(stateDir, 'chaos', 'run.lock');
}
