import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { prometheusProviders } from './prometheus.ts';
import { describeTools, findTool } from './resolve-tool.ts';
import { aContext } from './testing.ts';
import { toolWays } from './tool.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'promtool-ways-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** A separate folder with this program, which prints this version, as PATH. */
async function pathWith(program: string, version: string): Promise<string> {
  const bin = await mkdtemp(join(folder, 'bin-'));
  await writeFile(join(bin, program), `#!/bin/sh\necho '${program}, version ${version} (branch: HEAD)'\n`);
  await chmod(join(bin, program), 0o755);
  return bin;
}

const nowhere = (PATH: string) => ({ cacheDir: join(folder, 'none'), env: { PATH } });

it('is the one on PATH, unless it is too old for our rules or does not say what it is', async () => {
  const PATH = await pathWith('promtool', '2.42.0+ds');
  expect(await findTool('promtool', nowhere(PATH))).toBe(join(PATH, 'promtool'));
  const { promtool: old } = await describeTools(nowhere(await pathWith('promtool', '2.41.0')));
  expect(old[0]).toMatchObject({ available: false, detail: expect.stringContaining('2.41.0, and 2.42 is needed') });
  const { promtool: unknown } = await describeTools(nowhere(await pathWith('promtool', '')));
  expect(unknown[0]).toMatchObject({ available: false, detail: expect.stringContaining('does not say its version') });
});

it('is found in the cache and in the unpacked package, where Prometheus is, too', async () => {
  for (const place of ['prometheus-v0.313.1', 'prometheus-package/usr/bin']) {
    const cacheDir = await mkdtemp(join(folder, 'cache-'));
    await using context = await aContext({ cacheDir, env: { PATH: '' } });
    await mkdir(join(cacheDir, place), { recursive: true });
    for (const name of ['promtool', 'prometheus']) await writeFile(join(cacheDir, place, name), '', { mode: 0o755 });
    expect(await findTool('promtool', context)).toBe(join(cacheDir, place, 'promtool'));
    const ways = await Promise.all(prometheusProviders(context).map((way) => way.check()));
    expect(ways.filter(({ available }) => available).map(({ detail }) => detail)).toEqual([
      join(cacheDir, place, 'prometheus'),
    ]);
  }
});

it('has the ways that are documented, in their order', async () => {
  const { promtool } = await describeTools(nowhere(''));
  expect(promtool.map(({ kind }) => kind)).toEqual(toolWays.promtool);
});

it('Prometheus on PATH must be new enough, too', async () => {
  for (const [version, available] of [
    ['2.30.0', false],
    ['3.13.1', true],
  ] as const) {
    const PATH = await pathWith('prometheus', version);
    await using context = await aContext({ env: { PATH } });
    expect(await prometheusProviders(context)[1]?.check()).toMatchObject({ kind: 'installed', available });
  }
});
