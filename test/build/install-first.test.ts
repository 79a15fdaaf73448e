import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import type { installFirst } from '../../cli/src/providers/resolve.ts';

/*
 * Goal: after a source that failed, the next one counts, also in what is shipped. The bundler may rewrite `using`, and
 * a loop around it would then throw the first failure again.
 * Method: the function bundled with the options of all bundles, its packages left where they are.
 */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(cloneRoot(), 'node_modules', '.install-first-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('setup takes the next way after one that failed, bundled too', async () => {
  const contents = `export { installFirst } from './cli/src/providers/resolve.ts';`;
  const script = pathToFileURL(join(cloneRoot(), 'scripts/build.mjs')).href;
  const { common } = (await import(script)) as { common: BuildOptions };
  const { outputFiles = [] } = await build({
    stdin: { contents, resolveDir: cloneRoot(), loader: 'ts' },
    ...{ ...common, sourcemap: false, packages: 'external', format: 'esm' },
  });
  const file = join(folder, 'bundle.mjs');
  await writeFile(file, outputFiles[0]?.contents ?? '');
  const bundled = (await import(pathToFileURL(file).href)) as { installFirst: typeof installFirst };
  const way = (kind: 'release' | 'go', install: () => Promise<void>) => ({
    kind,
    install,
    check: async () => ({ kind, available: false, installable: true, detail: '' }),
  });
  const ways = [way('release', () => Promise.reject(new Error('no network'))), way('go', async () => undefined)];
  const said: string[] = [];
  await bundled.installFirst('k6', ways, { cacheDir: folder, onProgress: (message) => said.push(message) });
  expect(said).toEqual(['release: no network']);
});
