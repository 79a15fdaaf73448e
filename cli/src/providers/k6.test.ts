import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { k6Ways, majorOf } from './k6.ts';
import { describeTools, findTool, installTool } from './resolve-tool.ts';
import { toolWays } from './tool.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'k6-ways-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A separate folder with a program `k6` that prints this version, as PATH. */
async function pathWith(version: string): Promise<string> {
  const bin = await mkdtemp(join(folder, 'bin-'));
  await writeFile(join(bin, 'k6'), `#!/bin/sh\necho '${version}'\n`);
  await chmod(join(bin, 'k6'), 0o755);
  return bin;
}

const nowhere = () => ({ cacheDir: join(folder, 'none'), env: { PATH: '' } });

describe('majorOf', () => {
  it.each([
    ['k6 v2.2.0 (commit/devel, go1.26.8, linux/amd64)', 2],
    ['k6.exe v1.4.2 (commit/abc, go1.25, windows/amd64)', 1],
    ['something else', undefined],
  ])('of "%s" is %s', (text, major) => {
    expect(majorOf(text)).toBe(major);
  });
});

describe('k6', () => {
  it('is the one on PATH when its major version is 2', async () => {
    const PATH = await pathWith('k6 v2.9.1 (commit/x, go1.26, linux/amd64)');
    expect(await findTool('k6', { ...nowhere(), env: { PATH } })).toBe(join(PATH, 'k6'));
  });

  it('is not an installed one that is too old, which is said', async () => {
    const PATH = await pathWith('k6 v0.49.0 (go1.21, linux/amd64)');
    expect(await findTool('k6', { ...nowhere(), env: { PATH } })).toBeUndefined();
    const { k6 } = await describeTools({ ...nowhere(), env: { PATH } });
    expect(k6[0]?.detail).toContain('is k6 0, and 2 is needed');
  });

  it('is found in the cache once it was built there', async () => {
    const cacheDir = join(folder, 'cache');
    const file = await k6Ways({ cacheDir, env: {} })[1]?.file();
    await mkdir(join(file as string, '..'), { recursive: true });
    await writeFile(file as string, '', { mode: 0o755 });
    expect(await findTool('k6', { cacheDir, env: { PATH: '' } })).toBe(file);
  });

  it('comes from a release before a build, each where it is available', async () => {
    const { k6 } = await describeTools({ ...nowhere(), env: { PATH: process.env.PATH } });
    expect(k6.map(({ kind }) => kind)).toEqual(toolWays.k6);
    expect(k6[3]).toMatchObject({ installable: true, detail: expect.stringContaining('k6-v2.2.0-') });
  });

  it('is not built when its release is forced and its host cannot be reached', async () => {
    const env = { PATH: process.env.PATH, SHOPCTL_RELEASES_URL: 'http://127.0.0.1:1/' };
    const context = { cacheDir: join(folder, 'forced'), env };
    const error = {
      exitCode: 3,
      why: expect.stringMatching(/^ {2}release: k6 v2\.2\.0 was not downloaded .*ECONNREFUSED/),
    };
    await expect(installTool('k6', context, () => undefined, { forced: 'release' })).rejects.toMatchObject(error);
  });

  it('names its ways when a forced one does not exist', async () => {
    const why = '  url: k6 has no such way; it has installed, cache, docker, release, go';
    await expect(installTool('k6', nowhere(), () => undefined, { forced: 'url' })).rejects.toMatchObject({ why });
  });

  it('is not available without k6 and Go: exit code 3, with each source and what would help', async () => {
    const error = { exitCode: 3, component: 'k6', why: expect.stringContaining('install Go from go.dev') };
    await expect(installTool('k6', nowhere(), () => undefined)).rejects.toMatchObject(error);
  });
});
