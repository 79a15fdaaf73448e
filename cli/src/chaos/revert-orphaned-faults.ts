import { createEventLog } from '../platform/events.ts';
import type { Project } from '../platform/project.ts';
import { endEarlierRun } from '../platform/run-supervisor.ts';
import { recoverState } from '../platform/state.ts';
import { createUndoLog, undoFile } from '../platform/undo-log.ts';
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
  const leases = new Leases({
    log: createUndoLog(undoFile(project)),
    platform: createOfflinePlatform(before),
    events: createEventLog(),
    onChange: () => undefined,
  });
  await leases.adopt();
  return leases.clear('all', 'reverted after the supervisor was killed');
}
