import { createChaosClient } from '../../chaos/chaos-client.ts';
import { healLeft } from '../../chaos/heal-left.ts';
import type { HealResult } from '../../chaos/lease.ts';
import { describeEnd } from '../../chaos/render.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { refuseLeftFaults } from '../../platform/leftover-faults.ts';
import type { Project } from '../../platform/project.ts';
import { isSupervisorRunning } from '../../platform/supervisor-process.ts';
import { openFaults, undoFile } from '../../platform/undo-log.ts';
import { takeProjectLock } from '../../process/project-lock.ts';
import type { ChaosClearOptions } from './command.ts';

/** `shopctl chaos clear`. Exit code 6 when something remains. */
export async function runChaosClear(
  ids: readonly string[],
  options: ChaosClearOptions,
  deps: CommandDeps,
): Promise<void> {
  if ((ids.length === 0) === (options.all !== true)) throw nothingNamed();
  const project = deps.projectFrom(options);
  await refuseLeftFaults(project);
  tell(await createChaosClient(project).clear(options.all ? undefined : ids, '"chaos clear"'), deps);
}

/** `shopctl chaos heal`: idempotent, the newest first. Exit code 6 when something remains. */
export async function runChaosHeal(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  if (await isSupervisorRunning(project)) tell(await createChaosClient(project).clear(undefined, '"chaos heal"'), deps);
  else tell(await healAlone(project), deps);
}

/** No supervisor may start meanwhile: it would write the same file. */
async function healAlone(project: Project): Promise<HealResult> {
  if ((await openFaults(undoFile(project))).length === 0) return { healed: [], remains: [] };
  const lock = await takeProjectLock(project.lockFile);
  if (!lock) {
    throw new CliError({
      what: 'a supervisor exists and does not answer',
      why: 'it is starting, ending, or frozen',
      next: 'run the command again; if it stays so, "shopctl down" first',
      exitCode: exitCodes.dirty,
    });
  }
  try {
    return await healLeft(project);
  } finally {
    await lock.release();
  }
}

function tell(result: HealResult, { output }: CommandDeps): void {
  const { healed, remains } = result;
  output.result(result, () => {
    const lines = [...healed, ...remains].map((lease) => describeEnd(lease, output));
    return lines.length > 0 ? lines.join('\n') : 'nothing to take back';
  });
  if (remains.length > 0) process.exitCode = exitCodes.dirty;
}

function nothingNamed(): CliError {
  return new CliError({
    what: 'say which faults: ids, or --all',
    next: '"shopctl chaos status" shows the ids',
    exitCode: exitCodes.usage,
  });
}
