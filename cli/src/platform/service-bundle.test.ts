import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bundleIn, isModule } from './service-bundle.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'service-bundle-'));
});
afterEach(() => rm(folder, { recursive: true }));

it.each([
  ['the script that a build makes', ['orders.cjs'], 'orders.cjs'],
  ['the module of an early commit', ['orders.mjs', 'stock.cjs'], 'orders.mjs'],
  ['the script beside what an earlier build has left', ['orders.mjs', 'orders.cjs'], 'orders.cjs'],
  ['the script that should be there', [], 'orders.cjs'],
])('is %s', async (_, files, expected) => {
  for (const file of files) await writeFile(join(folder, file), '');
  const bundle = bundleIn(folder, 'orders');
  expect(basename(bundle)).toBe(expected);
  expect(isModule(bundle)).toBe(expected === 'orders.mjs');
});
