import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from './eventually.ts';

/** A process and everything below it, paused; ends with `thaw`, also at the end of an `await using`. */
export interface Frozen extends AsyncDisposable {
  thaw(): void;
}

/**
 * Pauses a process and its descendants (a PostgreSQL backend is in a group of its own, so a signal to the group is not
 * enough). Resolves when the kernel says that all of them are stopped.
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
    return all.every((one) => stopped.has(one) && (stateOf(one) === 'T' || stateOf(one) === undefined));
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

function descendantsOf(pid: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const parents = new Map(pids.map((name) => [Number(name), statOf(Number(name))?.parent]));
  const below = (parent: number): number[] =>
    [...parents].filter(([, of]) => of === parent).flatMap(([child]) => [child, ...below(child)]);
  return below(pid);
}

function stateOf(pid: number): string | undefined {
  return statOf(pid)?.state;
}

/** proc_pid_stat(5); the command in parentheses may itself hold spaces and parentheses. */
function statOf(pid: number): { state: string; parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state, parent: Number(parent) };
  } catch {
    return undefined; // It has ended meanwhile.
  }
}
