import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRunFolder } from './run-folder.ts';

let parent: string;
beforeEach(async () => {
  parent = join(await mkdtemp(join(tmpdir(), 'shop-runs-')), 'runs');
});
afterEach(() => rm(join(parent, '..'), { recursive: true, force: true }));

const at = new Date(2026, 10, 21, 16, 15, 0);

describe('the folder of a run', () => {
  it('is named by its local time, what it runs and its seed, and is for its user only', async () => {
    const { runId, path } = await createRunFolder(parent, { name: 'E08', seed: 7, at });
    expect(runId).toBe('20261121-161500-E08-7');
    expect(path).toBe(join(parent, runId));
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  it('is another one for a second run within the same second', async () => {
    const made = await Promise.all([1, 2, 3].map(() => createRunFolder(parent, { name: 'steady', seed: 1, at })));
    const names = made.map(({ runId }) => runId).toSorted();
    expect(names).toEqual(['', 'b', 'c'].map((letter) => `20261121-161500-steady-1${letter}`));
    expect((await readdir(parent)).toSorted()).toEqual(names);
  });
});
