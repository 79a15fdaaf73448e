import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { createCpuMeter, ownResidentBytes, processUsage } from './process-stats.ts';
import { signalGroup } from './signal.ts';

/*
 * Goal: what a component uses is what all its processes use, those that have ended included.
 * Method: a shell, which uses next to nothing itself, with a Node process below it.
 */

const shells: ChildProcess[] = [];
afterEach(() => {
  for (const shell of shells.splice(0)) signalGroup(shell.pid as number, 'SIGKILL');
});

/** Resolves when the script has printed its line; `$NODE` runs code. */
async function shellWith(script: string): Promise<number> {
  const shell = spawn('/bin/sh', ['-c', script], {
    env: { NODE: process.execPath },
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  shells.push(shell);
  await once(shell.stdout as NonNullable<typeof shell.stdout>, 'data');
  return shell.pid as number;
}

describe.runIf(process.platform === 'linux')('what a process uses', () => {
  it('has the memory of what runs below it', async () => {
    const pid = await shellWith(`"$NODE" -e 'console.log("up"); setInterval(() => undefined, 1000)' & wait`);
    const { rssBytes } = (await processUsage(pid)) ?? { rssBytes: 0 };
    expect(rssBytes).toBeGreaterThan(8_000_000);
  });

  it('has no memory of others when it is asked for alone', async () => {
    const pid = await shellWith(`"$NODE" -e 'console.log("up"); setInterval(() => undefined, 1000)' & wait`);
    const { rssBytes } = (await processUsage(pid)) ?? { rssBytes: 0 };
    const own = await ownResidentBytes(pid);
    expect(own).toBeGreaterThan(100_000);
    expect(own).toBeLessThan(rssBytes / 2);
  });

  it('has the CPU time of what has ended below it', async () => {
    const pid = await shellWith(`"$NODE" -e 'while (process.cpuUsage().user < 300000);'; echo over; read -r line`);
    const { cpuMs } = (await processUsage(pid)) ?? { cpuMs: 0 };
    expect(cpuMs).toBeGreaterThanOrEqual(280);
  });

  it('takes no buffers, which a process that looks every second would fill its memory with', async () => {
    const before = process.memoryUsage().arrayBuffers;
    for (let look = 0; look < 100; look++) await processUsage(process.pid);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  });

  it('is unknown of one that is gone', async () => {
    const shell = spawn('/bin/sh', ['-c', 'exit 0']);
    await once(shell, 'exit');
    expect(await processUsage(shell.pid as number)).toBeUndefined();
  });
});

describe('the CPU share of a process', () => {
  it('is that since the previous look, and unknown at the first one', () => {
    let now = 1_000;
    const meter = createCpuMeter(() => now);
    expect(meter.percent(7, 500)).toBeUndefined();
    now += 1_000;
    expect(meter.percent(7, 750)).toBe(25);
    // Ticks of 10 ms say nothing over so short a time.
    now += 100;
    expect(meter.percent(7, 850)).toBe(25);
    expect(meter.percent(8, 0)).toBeUndefined();
  });
});
