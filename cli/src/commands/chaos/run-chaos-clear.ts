import { createChaosClient } from '../../chaos/chaos-client.ts';
import type { ClearResult } from '../../chaos/lease.ts';
import { describeEnd } from '../../chaos/render.ts';
import { revertOrphanedFaults } from '../../chaos/revert-orphaned-faults.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { assertNoOrphanedFaults } from '../../platform/orphaned-faults.ts';
import type { Project } from '../../platform/project.ts';
import { isSupervisorRunning } from '../../platform/supervisor-process.ts';
import { openFaults, undoFile } from '../../platform/undo-log.ts';
import { takeProjectLock } from '../../process/project-lock.ts';

export interface ChaosClearOptions extends CommonOptions {
  readonly all?: boolean;
}

/**
 * `shopctl chaos clear`: idempotent with `--all`, which also reverts the faults of a crashed supervisor, the newest first.
 * Exit code 6 when a fault could not be reverted.
 */
export async function runChaosClear(
  ids: readonly string[],
  options: ChaosClearOptions,
  deps: CommandDeps,
): Promise<void> {
  const { all = false } = options;
  if ((ids.length === 0) !== all) throw nothingNamed();
  const project = deps.projectFrom(options);
  if (!all) await assertNoOrphanedFaults(project);
  const isOffline = all && !(await isSupervisorRunning(project));
  const client = createChaosClient(project);
  report(isOffline ? await clearOffline(project) : await client.clear(all ? undefined : ids, '"chaos clear"'), deps);
}

/** No supervisor may start meanwhile: it would write the same file. */
async function clearOffline(project: Project): Promise<ClearResult> {
  if ((await openFaults(undoFile(project))).length === 0) return { reverted: [], notReverted: [] };
  const lock = await takeProjectLock(project.lockFile);
  if (!lock) {
    throw new CliError({
      code: 'supervisor_busy',
      what: 'a supervisor exists and does not respond',
      why: 'it is starting, ending, or frozen',
      next: 'run the command again; if it stays so, "shopctl down" first',
    });
  }
  try {
    return await revertOrphanedFaults(project);
  } finally {
    await lock.release();
  }
}

function report(result: ClearResult, { output }: CommandDeps): void {
  const { reverted, notReverted } = result;
  output.result(result, () => {
    const lines = [...reverted, ...notReverted].map((lease) => describeEnd(lease, output));
    return lines.length > 0 ? lines.join('\n') : 'no fault to revert';
  });
  if (notReverted.length > 0) process.exitCode = exitCodes.dirty;
}

function nothingNamed(): CliError {
  return new CliError({
    code: 'invalid_usage',
    what: 'name either ids or --all',
    next: 'list the ids with "shopctl chaos status"',
  });
}
