import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { identifyProcess, type ProcessIdentity } from '../process-identity.ts';

/** Like a postmaster that does not stop in time: ignores SIGTERM, and prints the pid of its child in a separate session. */
export const STUBBORN = 'trap "" TERM; setsid sleep 600 >&2 & echo $!; while :; do sleep 0.1; done';

export interface StubbornTree {
  readonly child: ChildProcess;
  readonly root: ProcessIdentity;
  readonly below: ProcessIdentity;
}

/** Starts one. Linux only. */
export async function aStubbornTree(): Promise<StubbornTree> {
  const child = spawn('/bin/sh', ['-c', STUBBORN], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(child.stdout, 'data');
  const [root, below] = await Promise.all([child.pid as number, Number(line)].map(identifyProcess));
  if (root === undefined || below === undefined) throw new Error('the processes have ended already');
  return { child, root, below };
}
