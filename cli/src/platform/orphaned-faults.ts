import { CliError } from '../errors.ts';
import type { Project } from './project.ts';
import { isSupervisorRunning } from './supervisor-process.ts';
import { openFaults, undoFile } from './undo-log.ts';

/** A fault that no supervisor will revert. */
interface OrphanedFault {
  readonly id: string;
  readonly fault: string;
  readonly target: string;
  readonly needsPlatform?: boolean;
  readonly hidden?: boolean;
}

/** The error (exit code 6) of a command that does not run while faults are not reverted. */
function dirtyPlatform(left: readonly OrphanedFault[]): CliError {
  const names = left.map(({ id, fault, target }) => `${fault} on ${target} (${id})`);
  return new CliError({
    code: 'fault_not_reverted',
    what: 'the platform is dirty: a fault was not reverted',
    why: `still active: ${names.join(', ')}`,
    next: left.every(({ needsPlatform }) => needsPlatform)
      ? 'run "shopctl up", which reverts it as soon as PostgreSQL and RabbitMQ run'
      : 'run "shopctl chaos clear --all", then this command again',
  });
}

/**
 * Throws CliError (6) when a killed supervisor has left faults. While a supervisor runs, it is in charge of them. A start
 * is not refused for faults that can only be reverted once the platform runs, nor for those of a drill, which it reverts.
 */
export async function assertNoOrphanedFaults(
  project: Project,
  { isStart }: { isStart: boolean } = { isStart: false },
): Promise<void> {
  const left = (await openFaults(undoFile(project))).filter(
    ({ needsPlatform, hidden }) => !(isStart && (needsPlatform || hidden)),
  );
  if (left.length > 0 && !(await isSupervisorRunning(project))) throw dirtyPlatform(left);
}

/** Throws CliError (6) when the running platform has faults that could not be reverted. */
export function assertNoStuckFaults(faults: readonly (OrphanedFault & { readonly status: string })[]): void {
  const left = faults.filter(({ status }) => status === 'undo_failed');
  if (left.length > 0) throw dirtyPlatform(left);
}
