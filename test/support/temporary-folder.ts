/**
 * Each test file has a separate folder for temporary files, which its processes inherit. What a file leaves there fails it. The
 * folder is in that of the run, which is removed also when the run is killed.
 */
import { mkdtempSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, inject } from 'vitest';
import { keptTemporary } from './kept-temporary.ts';

const folder = mkdtempSync(join(inject('testTemporary'), 'file-'));
process.env.TMPDIR = folder;

// Registered before those of the file, so that it runs after them.
afterAll(async () => {
  const left = (await readdir(folder)).filter((name) => !keptTemporary.includes(name));
  await rm(folder, { recursive: true, force: true });
  expect(left, 'temporary files that the tests of this file have left').toEqual([]);
});
