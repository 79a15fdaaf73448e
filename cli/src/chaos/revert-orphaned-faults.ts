import { createEventLog } from '../platform/events.ts';
import type { Project } from '../platform/project.ts';
import { endEarlierRun } from '../platform/run-supervisor.ts';
import { type PlatformState, recoverState } from '../platform/state.ts';
import { createUndoLog, openFaults, undoFile } from '../platform/undo-log.ts';
import type { ClearResult } from './lease.ts';
import { Leases } from './leases.ts';
import { createOfflinePlatform } from './offline-platform.ts';

/**
 * Reverts the faults of a killed supervisor, without one. Its children are ended first, which ends most faults; the rest is
 * reverted from the undo log. Call it only when no supervisor runs.
 */
export async function revertOrphanedFaults(project: Project): Promise<ClearResult> {
  const before = await recoverState(project.stateFile);
  await endEarlierRun(project, before);
  return revertAll(project, before);
}

/**
 * Those of a killed drill: they are reverted by the next supervisor before it starts anything, without being asked. What needs the
 * platform stays in the log until it runs. The children of the killed supervisor must have ended.
 */
export async function revertHiddenOrphans(project: Project): Promise<void> {
  const left = await openFaults(undoFile(project));
  if (!left.some(({ hidden }) => hidden)) return;
  const { reverted, notReverted } = await revertAll(project, await recoverState(project.stateFile));
  for (const { fault, target } of reverted) {
    console.error(`supervisor: ${fault} on ${target}, which a drill had left, is reverted`);
  }
  for (const { fault, target, problem } of notReverted) {
    console.error(`supervisor: ${fault} on ${target}, which a drill had left, is not reverted yet: ${problem}`);
  }
}

async function revertAll(project: Project, before: PlatformState | undefined): Promise<ClearResult> {
  const leases = new Leases({
    log: createUndoLog(undoFile(project)),
    platform: createOfflinePlatform(before),
    events: createEventLog(),
    onChange: () => undefined,
  });
  await leases.adopt();
  return leases.clear('all', 'reverted after the supervisor was killed');
}
