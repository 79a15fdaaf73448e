import { readFile } from 'node:fs/promises';
import type Docker from 'dockerode';
import { unless } from '../../shared/unless.ts';
import { unlessStatus } from './engine.ts';

/**
 * Pid of a container's first process, where it is a process of this machine that takes signals from us. Undefined for an
 * engine in a virtual machine, for another user's process, and for a life too short to be looked at.
 */
export async function ownProcessOf(container: Docker.Container): Promise<number | undefined> {
  const seen = await container.inspect().catch(unlessStatus(404));
  const pid = seen?.State.Pid ?? 0;
  // The engine's number may be that of another process here; the process's control group is named after the container.
  const isOurs = pid > 0 && (await controlGroups(pid)).includes(seen?.Id as string) && takesSignals(pid);
  return isOurs ? pid : undefined;
}

async function controlGroups(pid: number): Promise<string> {
  // It may have ended, or this system has no /proc.
  return (await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(unless('ENOENT', 'ESRCH'))) ?? '';
}

function takesSignals(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EPERM' || code === 'ESRCH') return false;
    throw error;
  }
}
