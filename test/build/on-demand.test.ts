// Goal: a program does not load at its start what it may not use. Method: the imports in the bundles.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

interface Build {
  bundleText(target: string): Promise<string>;
}
const { bundleText } = (await import(pathToFileURL(join(cloneRoot(), 'scripts/build.mjs')).href)) as Build;

it.each([
  ['cli', 'node:fs/promises'],
  ['orders', 'node:fs'],
  ['orders-production', 'node:fs'],
])('%s does not load at its start what it does not use', async (target, another) => {
  const bundle = await bundleText(target);
  const names = new Set([...bundle.matchAll(/\bimport\b[^"';]*from ?"([^"]+)";/g)].map(([, name]) => name));
  expect(names).toContain(another);
  // Node would read all its exports.
  expect(names).not.toContain('node:http');
  expect(names).not.toContain('http');
  // Reads the source map.
  expect(bundle.includes('getCallSites')).toBe(false);
  expect(bundle.includes('node_modules/undici/lib/dispatcher/pool.js')).toBe(target !== 'cli');
  expect(bundle.includes('node_modules/undici/lib/web/fetch/index.js')).toBe(false);
});
