import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openProject, readConfigFile } from './project.ts';

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

describe('the control socket', () => {
  it.each([
    ['a login session', { XDG_RUNTIME_DIR: tmpdir() }],
    ['cron', {}],
    ['a session with separate temporary folders', { XDG_RUNTIME_DIR: tmpdir(), TMPDIR: tmpdir(), HOME: tmpdir() }],
  ])('has the same path when asked for from %s', (_, env) => {
    expect(openProject('shop', '/clone', env).socketPath).toBe('/clone/.shop/shop/control.sock');
  });

  it('has a path that fits also in a deep clone, another one for each', () => {
    const [one, other] = ['a', 'b'].map((name) => openProject('shop', `/${name.repeat(200)}`, {}).socketPath);
    expect(one?.length).toBeLessThanOrEqual(103);
    expect(one).not.toBe(other);
  });
});

it('is read as it is', async () => {
  const config = {
    project: 'mine',
    waitTimeout: 60,
    direct: true,
    runtime: 'docker',
    instrumentation: 'stock',
    providers: { postgres: 'docker' },
  };
  expect(await read(JSON.stringify(config))).toEqual(config);
});

it.each([
  [
    '{"projct": "a"}',
    'there is no "projct"; there are project, waitTimeout, direct, runtime, instrumentation, with, providers',
  ],
  ['{"project": 5}', '"project" must be of type string, not 5'],
  ['{"providers": null}', '"providers" must be of type object, not null'],
  ['{"providers": {"mysql": "docker"}}', 'there is no component "mysql"'],
  ['{"providers": {"postgres": "go"}}', 'postgres cannot be "go"; it can be url, installed, embedded, docker'],
  ['null', 'it holds no JSON object'],
  ['[]', 'it holds no JSON object'],
])('%s is wrong usage: %s', async (text, why) => {
  await expect(read(text)).rejects.toMatchObject({
    why,
    code: 'invalid_configuration',
    next: expect.stringContaining('correct the file'),
  });
});
