/*
 * Goal: everything that a platform runs stops and continues, also what a component has started.
 * Method: two processes of the test's own, one of which has a child.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import type { PlatformState } from '../../platform/state.ts';
import { processState } from '../../process/proc.ts';
import { identifyProcess, type ProcessIdentity } from '../../process/process-identity.ts';
import { processTree } from '../../process/process-tree.ts';
import { suspendProcesses } from './suspend.ts';

const started: ChildProcess[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) {
    const ended = once(child, 'exit');
    // Its child too.
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await ended;
  }
});

async function aProcess(script: string): Promise<ProcessIdentity> {
  const child = spawn('sh', ['-c', script], { stdio: 'ignore', detached: true });
  started.push(child);
  await once(child, 'spawn');
  const identity = await identifyProcess(child.pid ?? 0);
  if (identity === undefined) throw new Error('it has ended');
  return identity;
}

it.skipIf(process.platform !== 'linux')(
  'stops and continues the supervisor, the instances and what is below them',
  async () => {
    const supervisor = await aProcess('exec sleep 60');
    const component = await aProcess('sleep 60 & wait');
    await expect.poll(async () => (await processTree(component)).length).toBe(2);
    const all = [supervisor, ...(await processTree(component))];
    const states = () => all.map(({ pid }) => processState(pid)?.state);
    const state = { supervisor, instances: [{ process: component }, {}] } as unknown as PlatformState;
    const resume = await suspendProcesses(state);
    expect(states()).toEqual(['T', 'T', 'T']);
    await resume();
    await expect.poll(states).not.toContain('T');
  },
);
