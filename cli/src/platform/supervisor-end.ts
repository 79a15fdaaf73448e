import { join } from 'node:path';
import { CliError } from '../errors.ts';
import { lockHolder } from '../process/project-lock.ts';
import { poll } from '../shared/wait-until.ts';
import type { Project } from './project.ts';

/**
 * Signals the process that holds the project; resolves with false when there is none. SIGTERM: it stops all that it runs,
 * as for `down`. SIGKILL: its reaper does.
 */
export async function signalSupervisor(project: Project, signal: 'SIGTERM' | 'SIGKILL'): Promise<boolean> {
  const holder = await lockHolder(project.lockFile);
  if (!holder) return false;
  try {
    process.kill(holder.pid, signal);
  } catch (error) {
    // It ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  return true;
}

/** Resolves when no supervisor holds the project; throws CliError (exit code 6) after the limit, ms. */
export async function waitUntilGone(project: Project, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  const lookForEnd = async (): Promise<true | undefined> => {
    const holder = await lockHolder(project.lockFile);
    if (!holder) return true;
    if (performance.now() > deadline) {
      throw new CliError({
        code: 'stop_incomplete',
        what: `the supervisor (process ${holder.pid}) has not ended after ${limitMs / 1000} s`,
        why: 'it is still stopping what it started',
        next: `see ${join(project.logDir, 'supervisor.log')}, then run "shopctl down" again`,
      });
    }
    return undefined;
  };
  await poll(lookForEnd, { everyMs: 20 });
}
