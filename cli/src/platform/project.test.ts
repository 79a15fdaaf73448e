import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readConfigFile } from './project.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-config-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function read(text: string) {
  const file = join(folder, 'shopctl.json');
  await writeFile(file, text);
  return readConfigFile(folder, { SHOPCTL_CONFIG: file });
}

it('is read as it is', async () => {
  const config = {
    project: 'mine',
    waitTimeout: 60,
    direct: true,
    runtime: 'docker',
    providers: { postgres: 'docker' },
  };
  expect(await read(JSON.stringify(config))).toEqual(config);
});

it.each([
  ['{"projct": "a"}', 'there is no "projct"; there are project, waitTimeout, direct, runtime, providers'],
  ['{"project": 5}', '"project" must be of type string, not 5'],
  ['{"providers": null}', '"providers" must be of type object, not null'],
  ['null', 'it holds no JSON object'],
  ['[]', 'it holds no JSON object'],
])('%s is wrong usage: %s', async (text, why) => {
  await expect(read(text)).rejects.toMatchObject({
    why,
    exitCode: 2,
    next: expect.stringContaining('correct the file'),
  });
});
