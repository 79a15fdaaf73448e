import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLoadFolder } from './run-folder.ts';

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'shop-load-'));
});
afterEach(() => rm(stateDir, { recursive: true, force: true }));

it('a load removes what a killed one left', async () => {
  const killed = await createLoadFolder({ stateDir }, { scenario: 'steady', seed: 1 });
  await writeFile(join(killed.path, 'console.ndjson'), '{}\n');
  const { runId, path } = await createLoadFolder({ stateDir }, { scenario: 'smoke', seed: 2 });
  expect(runId).toMatch(/^\d{8}-\d{6}-smoke-2$/);
  expect(await readdir(join(stateDir, 'load'))).toEqual([runId]);
  expect(await readdir(path)).toEqual([]);
});
