/*
 * Goal: libfaketime is installed without root and without a trace outside the cache directory. Method: programs of
 * apt's names that do what apt does with one package.
 */
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { libfaketimeWays } from './libfaketime.ts';
import { findTool, installTool } from './resolve-tool.ts';

const LIBRARY = 'usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

let folder: string;
let cacheDir: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shopctl-libfaketime-'));
  cacheDir = join(folder, 'cache');
});
afterEach(() => rm(folder, { recursive: true }));

async function program(name: string, script: string): Promise<void> {
  const file = join(folder, 'bin', name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
}

async function anApt({ library = LIBRARY, known = 'libfaketime' } = {}) {
  await program(
    'apt-cache',
    `[ -z "${known}" ] && { echo "No packages found" >&2; exit 100; }; echo libfaketime; echo libc6`,
  );
  await program(
    'apt-get',
    'case "$*" in *download*libc6*) exit 1;; *download*) touch libfaketime_0.9_amd64.deb;; esac',
  );
  await program('dpkg-deb', `mkdir -p "$3/$(dirname ${library})" && touch "$3/${library}"`);
  return { cacheDir, env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` } };
}

const isHere = async () => (await readdir('/usr/lib/x86_64-linux-gnu/faketime').catch(() => [])).length > 0;

it.runIf(process.platform === 'linux')('is unpacked from its package alone, into the cache directory', async (test) => {
  if (await isHere()) test.skip('libfaketime is installed on this machine: nothing would be unpacked');
  const context = await anApt();
  expect(await findTool('libfaketime', context)).toBeUndefined();
  await installTool('libfaketime', context, () => undefined);
  expect(await findTool('libfaketime', context)).toBe(join(cacheDir, 'libfaketime-package', LIBRARY));
  expect(await readdir(cacheDir)).toEqual(['libfaketime-package']);
});

it.runIf(process.platform === 'linux').each([
  ['apt does not know it', { known: '' }, 'apt knows no package libfaketime'],
  [
    'its package lacks the library',
    { library: 'usr/lib/other.so' },
    'the package libfaketime has no libfaketimeMT.so.1',
  ],
])('is not there when %s, and nothing is left behind', async (_, apt, why) => {
  const context = await anApt(apt);
  const way = libfaketimeWays(context).find(({ kind }) => kind === 'packages');
  await expect(way?.install?.(() => undefined)).rejects.toThrow(why);
  expect((await readdir(cacheDir)).filter((name) => name.startsWith('libfaketime'))).toEqual([]);
});

it.runIf(process.platform === 'linux')('is the one that is named, or none', async () => {
  const file = join(folder, 'own.so');
  const context = { cacheDir, env: { SHOPCTL_LIBFAKETIME: file } };
  expect(await findTool('libfaketime', context)).toBeUndefined();
  await expect(installTool('libfaketime', context, () => undefined)).rejects.toMatchObject({
    exitCode: 3,
    why: expect.stringContaining(`SHOPCTL_LIBFAKETIME names ${file}`),
  });
  await writeFile(file, '');
  expect(await findTool('libfaketime', context)).toBe(file);
});
