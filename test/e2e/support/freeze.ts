import { processState } from '../../../cli/src/process/proc.ts';
import { descendantsOf } from '../../../cli/src/process/process-tree.ts';
import { eventually } from './eventually.ts';

/** A process and everything below it, paused; ends with `thaw`, also at the end of an `await using`. */
export interface Frozen extends AsyncDisposable {
  thaw(): void;
}

/**
 * Pauses a process and its descendants (a PostgreSQL backend is in a separate group, so a signal to the group is not
 * enough). Resolves when the kernel says that all of them are stopped, and rejects where the process itself is gone.
 */
export async function freeze(pid: number): Promise<Frozen> {
  const stopped = new Set<number>();
  await eventually(`process ${pid} and its descendants to be stopped`, { withinMs: 5_000 }, () => {
    // One of them may have been starting another when it was stopped.
    const all = [pid, ...descendantsOf(pid)];
    for (const one of all.filter((other) => !stopped.has(other))) {
      signal(one, 'SIGSTOP');
      stopped.add(one);
    }
    const isStopped = processState(pid)?.state === 'T';
    return isStopped && all.every((one) => stopped.has(one) && ['T', undefined].includes(processState(one)?.state));
  });
  const thaw = () => {
    for (const one of stopped) signal(one, 'SIGCONT');
    stopped.clear();
  };
  return { thaw, [Symbol.asyncDispose]: async () => thaw() };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
