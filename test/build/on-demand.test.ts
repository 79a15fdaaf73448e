// Goal: a command does not load at its start what it may not use. Method: the imports in the bundles of the command line.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

interface Build {
  bundleText(target: string): Promise<string>;
}
const { bundleText } = (await import(pathToFileURL(join(cloneRoot(), 'scripts/build.mjs')).href)) as Build;

it('no bundle of the command line imports node:http: Node would read all its exports', async () => {
  const imports = (await bundleText('cli')).matchAll(/^import .* from "([^"]+)";$/gm);
  const names = new Set(imports.map(([, name]) => name));
  expect(names).toContain('node:fs/promises');
  expect(names).not.toContain('node:http');
  expect(names).not.toContain('http');
});
