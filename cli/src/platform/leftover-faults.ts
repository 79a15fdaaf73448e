import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Project } from './project.ts';
import { isSupervisorRunning } from './supervisor-process.ts';
import { openFaults, undoFile } from './undo-log.ts';

/** A fault that nobody will end by itself. */
interface LeftFault {
  readonly id: string;
  readonly fault: string;
  readonly target: string;
  readonly needsPlatform?: boolean;
}

/** The error (exit code 6) of a command that does not run while faults are left. */
function dirtyPlatform(left: readonly LeftFault[]): CliError {
  const names = left.map(({ id, fault, target }) => `${fault} on ${target} (${id})`);
  return new CliError({
    what: 'the platform is dirty: a fault was not taken back',
    why: `left are ${names.join(', ')}`,
    next: left.every(({ needsPlatform }) => needsPlatform)
      ? 'run "shopctl up", which takes it back as soon as what holds it runs'
      : 'run "shopctl chaos heal", then this command again',
    exitCode: exitCodes.dirty,
  });
}

/**
 * Throws CliError (6) when a killed supervisor has left faults. While a supervisor runs, it is in charge of them. A start
 * is not refused for what can only be taken back once the platform runs.
 */
export async function refuseLeftFaults(
  project: Project,
  { isStart }: { isStart: boolean } = { isStart: false },
): Promise<void> {
  const left = (await openFaults(undoFile(project))).filter(({ needsPlatform }) => !(isStart && needsPlatform));
  if (left.length > 0 && !(await isSupervisorRunning(project))) throw dirtyPlatform(left);
}

/** Throws CliError (6) when the running platform has faults that could not be taken back. */
export function refuseRemains(faults: readonly (LeftFault & { readonly status: string })[]): void {
  const left = faults.filter(({ status }) => status === 'remains');
  if (left.length > 0) throw dirtyPlatform(left);
}
