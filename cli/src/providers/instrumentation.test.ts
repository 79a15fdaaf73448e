import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeTools, findTool, installTool } from './resolve-tool.ts';

let folder: string;
let root: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-instrumentation-'));
  root = join(folder, 'clone');
  await manifest('instrumentation', { dependencies: { '@shop/kit': '0.1.0', sdk: '2.0.0', hooks: '3.0.0' } });
});
afterEach(() => rm(folder, { recursive: true }));

async function manifest(place: string, content: object): Promise<void> {
  await mkdir(join(root, place), { recursive: true });
  await writeFile(join(root, place, 'package.json'), JSON.stringify(content));
}

/** A PATH on which npm is this script. */
async function npmThat(script: string): Promise<string> {
  const place = join(folder, 'bin');
  await mkdir(place);
  await writeFile(join(place, 'npm'), `#!/bin/sh\n${script}\n`);
  await chmod(join(place, 'npm'), 0o755);
  return `${place}:/usr/bin:/bin`;
}

const contextOf = (PATH: string) => ({ root, cacheDir: join(folder, 'cache'), env: { PATH } });

it('is here where npm has installed the versions of the workspace', async () => {
  await manifest('node_modules/sdk', { version: '2.0.0' });
  await manifest('node_modules/hooks', { version: '3.0.0' });
  expect(await findTool('instrumentation', contextOf(''))).toBe(join(root, 'node_modules'));
});

it('is to be installed where one is missing or has another version', async () => {
  await manifest('node_modules/sdk', { version: '1.0.0' });
  const { instrumentation } = await describeTools(contextOf(await npmThat('exit 1')));
  expect(instrumentation).toMatchObject([{ kind: 'npm', available: false, installable: true }]);
  expect(instrumentation[0]?.detail).toContain('sdk 2.0.0, hooks 3.0.0');
});

it('is not available without npm, which is reported', async () => {
  const { instrumentation } = await describeTools(contextOf(join(folder, 'nothing')));
  expect(instrumentation).toMatchObject([{ available: false, installable: false, detail: 'no npm on PATH' }]);
});

it('is installed by npm, which leaves the lock file and runs no script of a package', async () => {
  const script = `echo "$PWD $@" > ${folder}/called
    mkdir -p node_modules/sdk node_modules/hooks
    echo '{"version":"2.0.0"}' > node_modules/sdk/package.json
    echo '{"version":"3.0.0"}' > node_modules/hooks/package.json`;
  const context = contextOf(await npmThat(script));
  await installTool('instrumentation', context, () => undefined);
  expect(await findTool('instrumentation', context)).toBe(join(root, 'node_modules'));
  const called = await readFile(join(folder, 'called'), 'utf8');
  expect(called).toMatch(new RegExp(`^${root} install --workspace instrumentation --no-save --ignore-scripts `));
});

it('that npm cannot install is an error with the words of npm and what to do', async () => {
  const context = contextOf(await npmThat('echo "no such registry" >&2; exit 1'));
  await expect(installTool('instrumentation', context, () => undefined)).rejects.toMatchObject({
    code: 'component_unavailable',
    exitCode: 3,
    why: expect.stringContaining('no such registry'),
  });
});
