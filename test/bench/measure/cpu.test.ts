import { expect, it } from 'vitest';
import { cpuBetween, readCpu } from './cpu.ts';
import { startWorker } from './worker.ts';

it('reads the CPU time of a process with its children', async () => {
  await using worker = startWorker(new URL('./testing/spinner.ts', import.meta.url));
  const before = await readCpu({ self: process.pid });
  await worker.call('spin', 200);
  expect(cpuBetween(before, await readCpu({ self: process.pid })).self).toBeGreaterThanOrEqual(200);
});

it('counts for a named child what it used, and no longer for its parent', async () => {
  await using worker = startWorker(new URL('./testing/spinner.ts', import.meta.url));
  const named = { self: process.pid, child: worker.pid };
  const before = await readCpu(named);
  await worker.call('spin', 400);
  const { self, child } = cpuBetween(before, await readCpu(named));
  expect(child).toBeGreaterThanOrEqual(390);
  expect(self).toBeLessThan(390);
});

it('passes on the error of a worker', async () => {
  await using worker = startWorker(new URL('./testing/spinner.ts', import.meta.url));
  await expect(worker.call('fail')).rejects.toThrow('on purpose');
});
