import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { identifyProcess, isAlive } from './process-identity.ts';
import { lockHolder, takeProjectLock } from './project-lock.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shopctl-test-'));
  file = join(folder, 'supervisor.lock');
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

describe('a lock', () => {
  it('is held by one process at a time, and free once it was released', async () => {
    const lock = await takeProjectLock(file);
    expect(await takeProjectLock(file)).toBeUndefined();
    expect(await lockHolder(file)).toEqual(await identifyProcess(process.pid));
    await lock?.release();
    expect(await lockHolder(file)).toBeUndefined();
  });

  it('is released although another process removed it', async () => {
    const lock = await takeProjectLock(file);
    await rm(file);
    await expect(lock?.release()).resolves.toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['a part', '{"pid":12,"start'],
    ['zeros', '\0\0\0\0'],
    ['something else', '[]'],
  ])('that a power failure left with %s in it is reported, and taken', async (_, torn) => {
    await writeFile(file, torn);
    const report = vi.spyOn(console, 'error').mockReturnValue();
    expect(await lockHolder(file)).toBeUndefined();
    expect(await takeProjectLock(file)).toBeDefined();
    expect(report).toHaveBeenCalledWith(expect.stringContaining(file));
    expect(await lockHolder(file)).toMatchObject({ pid: process.pid });
    expect(await readdir(folder)).toEqual(['supervisor.lock']);
  });

  // Elsewhere the start time is a date.
  it.runIf(process.platform === 'linux')(
    'of a process of an earlier boot is free, even if another has its pid and start time',
    async () => {
      const now = await identifyProcess(process.pid);
      const before = { pid: process.pid, startTime: '', ...now, bootId: '11111111-2222-3333-4444-555555555555' };
      await writeFile(file, JSON.stringify(before));
      expect(await isAlive(before)).toBe(false);
      expect(await lockHolder(file)).toBeUndefined();
    },
  );

  it('of an older version, which names no boot, is held', async () => {
    const { pid, startTime } = (await identifyProcess(process.pid)) as { pid: number; startTime: string };
    await writeFile(file, JSON.stringify({ pid, startTime }));
    expect(await takeProjectLock(file)).toBeUndefined();
  });
});
