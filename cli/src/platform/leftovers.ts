import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { listPids } from '../process/proc.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from '../process/process-identity.ts';
import { killTree } from '../process/process-tree.ts';
import { signalProcess } from '../process/signal.ts';
import { unless } from '../shared/unless.ts';

/** A process of an earlier run. */
export interface Leftover extends ProcessIdentity {
  readonly stopSignal: NodeJS.Signals;
}

/** Parses the reaper's list: `pid start-time signal [boot]` per line. Lines that are none are left out. */
export function parseChildList(text: string): readonly Leftover[] {
  return text.split('\n').flatMap((line) => {
    const [pid, startTime, signal, bootId] = line.split(' ');
    if (!pid || !startTime || !signal || !/^\d+$/.test(pid)) return [];
    const stopSignal = `SIG${signal}` as NodeJS.Signals;
    return [{ pid: Number(pid), startTime, stopSignal, ...(bootId !== undefined && { bootId }) }];
  });
}

/**
 * Processes of an earlier run that still live although their supervisor and its reaper are gone. Those are the
 * processes on the list whose start time is the same (a pid may be reused), and on Linux whatever carries the mark.
 */
export async function findLeftovers(listFile: string, mark: string | undefined): Promise<readonly Leftover[]> {
  const listed = parseChildList((await readFile(listFile, 'utf8').catch(unless('ENOENT'))) ?? '');
  const alive = await Promise.all(listed.map(isAlive));
  const found = listed.filter((_, index) => alive[index]);
  const marked = mark === undefined ? [] : await findMarked(mark);
  return [...found, ...marked.filter(({ pid }) => !found.some((other) => other.pid === pid))];
}

/** Ends them: their own signal first, after the limit SIGKILL for each with what is below it. Resolves when all are gone. */
export async function endLeftovers(leftovers: readonly Leftover[], timeoutMs = 3000): Promise<void> {
  for (const { pid, stopSignal } of leftovers) {
    signalProcess(pid, 'SIGCONT');
    signalProcess(pid, stopSignal);
  }
  const deadline = performance.now() + timeoutMs;
  let left = leftovers;
  while (left.length > 0 && performance.now() < deadline) {
    await delay(25);
    left = await stillAlive(left);
  }
  for (const one of left) await killTree(one);
  while (left.length > 0) {
    await delay(10);
    left = await stillAlive(left);
  }
}

async function stillAlive<P extends ProcessIdentity>(processes: readonly P[]): Promise<readonly P[]> {
  const alive = await Promise.all(processes.map(isAlive));
  return processes.filter((_, index) => alive[index]);
}

async function findMarked(mark: string): Promise<readonly Leftover[]> {
  if (process.platform !== 'linux') return [];
  const marked = await Promise.all(
    listPids().map(async (pid) => (await carriesMark(pid, mark)) && identifyProcess(pid)),
  );
  return marked
    .filter((p) => p !== false && p !== undefined)
    .map((identity) => ({ ...identity, stopSignal: 'SIGTERM' }));
}

async function carriesMark(pid: number, mark: string): Promise<boolean> {
  // Other users' processes and those that have just ended are none of ours.
  const isNotOurs = unless('EACCES', 'ENOENT', 'ESRCH', 'EPERM');
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(isNotOurs);
  return environment?.split('\0').includes(`SHOPCTL_MARK=${mark}`) ?? false;
}
