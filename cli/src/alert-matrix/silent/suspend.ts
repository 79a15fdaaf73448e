import type { PlatformState } from '../../platform/state.ts';
import { processState } from '../../process/proc.ts';
import { isAlive, type ProcessIdentity } from '../../process/process-identity.ts';
import { processTree, signalIdentity } from '../../process/process-tree.ts';
import { waitUntil } from '../../shared/wait-until.ts';

const STOPPED_LIMIT_MS = 5_000;

type Running = Pick<PlatformState, 'supervisor' | 'instances'>;

/**
 * Stops every process of a platform, as a machine that is suspended does: first the supervisor, which would see that the others do
 * not respond. Resolves with what continues them, the supervisor last.
 */
export async function suspendProcesses(state: Running): Promise<() => Promise<void>> {
  const stopped = new Map<number, ProcessIdentity>();
  const resume = async () => {
    for (const one of [...stopped.values()].reverse()) await signalIdentity(one, 'SIGCONT');
  };
  try {
    // One of them may have been starting another when it was stopped.
    await waitUntil('all processes of the platform to be stopped', STOPPED_LIMIT_MS, async () => {
      const all = await processesOf(state);
      for (const one of all.filter(({ pid }) => !stopped.has(pid))) {
        if (await signalIdentity(one, 'SIGSTOP')) stopped.set(one.pid, one);
      }
      const alive = await Promise.all(all.map(isAlive));
      return all.every(({ pid }, index) => !alive[index] || processState(pid)?.state === 'T') || undefined;
    });
  } catch (error) {
    await resume();
    throw error;
  }
  return resume;
}

/** The supervisor and all below it; a component may have left its tree. */
async function processesOf({ supervisor, instances }: Running): Promise<readonly ProcessIdentity[]> {
  const roots = [supervisor, ...instances.flatMap(({ process }) => process ?? [])];
  const trees = await Promise.all(roots.map(processTree));
  return [...new Map(trees.flat().map((one) => [one.pid, one])).values()];
}
