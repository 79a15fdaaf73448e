import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { identifyProcess, isAlive, type ProcessIdentity } from './process-identity.ts';
import { signalIdentity } from './process-tree.ts';
import { spawnProcess } from './spawn.ts';
import { STUBBORN } from './testing/stubborn-tree.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shopctl-spawn-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a child that does not stop in time', () => {
  it.runIf(process.platform === 'linux')('is killed with what is below it, also in another session', async () => {
    const logFile = join(folder, 'log');
    const running = await spawnProcess({
      command: '/bin/sh',
      args: ['-c', STUBBORN],
      env: { PATH: process.env.PATH ?? '' },
      cwd: folder,
      logFile,
      exitsWithParent: false,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 200,
      onStart: () => undefined,
      onEnd: () => undefined,
    });
    const read = async () => identifyProcess(Number(await readFile(logFile, 'utf8')));
    await expect.poll(read, { timeout: 10_000 }).toBeDefined();
    const below = (await read()) as ProcessIdentity;
    onTestFinished(async () => {
      await signalIdentity(below, 'SIGKILL');
    });
    await running.stop();
    expect(await running.ended).toBe('signal SIGKILL');
    await expect.poll(() => isAlive(below), { timeout: 10_000 }).toBe(false);
  });
});
