import { createEventLog } from '../platform/events.ts';
import type { Project } from '../platform/project.ts';
import { endEarlierRun } from '../platform/run-supervisor.ts';
import { recoverState } from '../platform/state.ts';
import { createUndoLog, undoFile } from '../platform/undo-log.ts';
import type { HealResult } from './lease.ts';
import { Leases } from './leases.ts';
import { createLeftWorld } from './left-world.ts';

/**
 * Takes back what a killed supervisor has left, without one: its children are ended first (its guardian may have done so
 * already), which ends most faults; the rest is taken back from its record. Call it only when no supervisor runs.
 */
export async function healLeft(project: Project): Promise<HealResult> {
  const before = await recoverState(project.stateFile);
  await endEarlierRun(project, before);
  const leases = new Leases({
    log: createUndoLog(undoFile(project)),
    world: createLeftWorld(before),
    events: createEventLog(),
    onChange: () => undefined,
  });
  await leases.adopt();
  return leases.clear('all', 'healed after the supervisor was killed');
}
