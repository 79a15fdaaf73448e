import type { CommandDeps } from '../../command-context.ts';
import { createControlClient } from '../../platform/control-client.ts';
import { assertNoOrphanedFaults, assertNoStuckFaults } from '../../platform/orphaned-faults.ts';
import type { Project } from '../../platform/project.ts';
import type { PlatformState } from '../../platform/state.ts';
import { isSupervisorRunning } from '../../platform/supervisor-process.ts';
import type { FoundExperiment } from '../format/catalog.ts';
import { endLeftOver } from './ephemeral-platform.ts';
import { refuseUnmet } from './needs.ts';

/**
 * The running platform when experiments are to run on it; undefined when they are to have an ephemeral one. Takes down
 * what an earlier run has left. Throws CliError: 6 when the platform is dirty, 3 when it is not what they need.
 */
export async function runningPlatform(
  experiments: readonly FoundExperiment[],
  { project, fresh = false, deps }: { project: Project; fresh: boolean | undefined; deps: CommandDeps },
): Promise<PlatformState | undefined> {
  await assertNoOrphanedFaults(project);
  const isRunning = await isSupervisorRunning(project);
  await endLeftOver(project, deps);
  if (!isRunning || fresh) return undefined;
  const state = await createControlClient(project).state();
  assertNoStuckFaults(state.faults);
  refuseUnmet(experiments, state);
  return state;
}
