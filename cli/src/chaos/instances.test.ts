import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it, vi } from 'vitest';
import type { InstanceState } from '../platform/state.ts';
import { identifyProcess, type ProcessIdentity } from '../process/process-identity.ts';
import { awaitGone, verifyReady } from './instances.ts';
import type { PlatformAccess } from './platform-access.ts';

const children: ReturnType<typeof spawn>[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function start(): Promise<ProcessIdentity> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  children.push(child);
  await once(child, 'spawn');
  const identity = await identifyProcess(child.pid ?? 0);
  if (identity === undefined) throw new Error('the process did not start');
  return identity;
}

/** A platform of one instance, as its supervisor sees it. */
function platformOf(instance: () => Partial<InstanceState>): PlatformAccess {
  return {
    isLive: true,
    state: () => ({ instances: [{ name: 'orders-1', service: 'orders', ...instance() }] }),
  } as unknown as PlatformAccess;
}

it('a process that was killed is not ready again before another one runs in its place', async () => {
  const killed = await start();
  let running = killed;
  // The supervisor has not seen the end of the process yet.
  const look = vi.fn(() => ({ status: 'ready' as const, process: running }));
  const platform = platformOf(look);
  process.kill(killed.pid, 'SIGKILL');
  await awaitGone({ target: 'orders', victims: [{ name: 'orders-1', process: killed }] });

  const verified = verifyReady({ target: 'orders', victims: [] }, platform);
  await vi.waitFor(() => expect(look.mock.calls.length).toBeGreaterThan(2));
  running = await start();

  expect(await verified).toBe(`orders-1 is ready as process ${running.pid}`);
});
