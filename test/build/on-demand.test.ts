// Goal: a program does not load at its start what it may not use. Method: the imports in the bundles.
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

interface Build {
  bundleFiles(target: string): Promise<readonly { readonly path: string; readonly text: string }[]>;
}
const { bundleFiles } = (await import(pathToFileURL(join(cloneRoot(), 'scripts/build.mjs')).href)) as Build;

it('the command line does not load at its start what it does not use', async () => {
  const files = (await bundleFiles('cli')).filter(({ path }) => !path.endsWith('.map'));
  const bundle = files.map(({ text }) => text).join('\n');
  const names = new Set([...bundle.matchAll(/\bimport\b[^"';]*from ?"([^"]+)";/g)].map(([, name]) => name));
  expect(names).toContain('node:fs/promises');
  // Node would read all its exports.
  expect(names).not.toContain('node:http');
  expect(names).not.toContain('http');
  // What each command loads, whatever it is.
  const textOf = new Map(files.map(({ path, text }) => [basename(path), text]));
  const loaded = new Set(['shopctl.mjs']);
  for (const name of loaded)
    for (const [, next = ''] of textOf.get(name)?.matchAll(/^(?:import |\} from )"\.\/(?:chunks\/)?([^"]+)";$/gm) ?? [])
      loaded.add(next);
  const first = [...loaded].map((name) => textOf.get(name)).join('\n');
  const libraries = new Set([...first.matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)/gm)].map(([, name]) => name));
  expect([...libraries]).toEqual(['commander']);
});
