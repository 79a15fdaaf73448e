import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Project } from './project.ts';
import { lockHolder } from './project-lock.ts';

const lockFile = (project: Project) => join(project.stateDir, 'supervisor.lock');

/** Kills the process that holds the project. Its guardian ends what it ran. */
export async function killSupervisor(project: Project): Promise<void> {
  const holder = await lockHolder(lockFile(project));
  if (!holder) return;
  try {
    process.kill(holder.pid, 'SIGKILL');
  } catch (error) {
    // It ended by itself meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Resolves when no supervisor holds the project; throws CliError (exit code 6) after the limit, ms. */
export async function waitUntilGone(project: Project, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  const lock = lockFile(project);
  for (;;) {
    const holder = await lockHolder(lock);
    if (!holder) return;
    if (performance.now() > deadline) {
      throw new CliError({
        what: `the supervisor (process ${holder.pid}) has not ended after ${limitMs / 1000} s`,
        why: 'it is still stopping what it started',
        next: `see ${join(project.logDir, 'supervisor.log')}, then run "shopctl down" again`,
        exitCode: exitCodes.dirty,
      });
    }
    await delay(20);
  }
}
