import type { ChaosClearOptions } from '../commands/chaos.ts';
import type { CommandDeps, CommonOptions } from '../commands/deps.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Project } from '../platform/project.ts';
import { takeProjectLock } from '../platform/project-lock.ts';
import { isSupervisorRunning } from '../platform/supervisor-process.ts';
import { createChaosClient } from './chaos-client.ts';
import { refuseLeftFaults } from './dirty.ts';
import { healLeft } from './heal-left.ts';
import type { HealResult } from './lease.ts';
import { describeEnd } from './render.ts';
import { openFaults, undoFile } from './undo-log.ts';

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
