import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type StartOptions, startRequest } from './start-options.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'shop-start-options-'));
});
afterEach(() => rm(root, { recursive: true }));

/** The request of options, variables and a configuration file. */
async function requestOf(options: Partial<StartOptions>, env: NodeJS.ProcessEnv = {}, config?: object) {
  if (config !== undefined) await writeFile(join(root, 'shopctl.json'), JSON.stringify(config));
  return startRequest([], { build: true, ...options }, { root, env });
}

describe.each([
  ['runtime', 'SHOPCTL_RUNTIME', 'docker', 'process'],
  ['instrumentation', 'SHOPCTL_INSTRUMENTATION', 'stock', 'manual'],
] as const)('%s', (key, variable, one, other) => {
  it('is left to the platform where nothing is said', async () => {
    expect(await requestOf({})).not.toHaveProperty(key);
    expect(await requestOf({}, { [variable]: '' })).not.toHaveProperty(key);
  });

  it('comes from the option, then the variable, then the configuration file', async () => {
    expect(await requestOf({ [key]: one }, { [variable]: other }, { [key]: other })).toMatchObject({ [key]: one });
    expect(await requestOf({}, { [variable]: one }, { [key]: other })).toMatchObject({ [key]: one });
    expect(await requestOf({}, {}, { [key]: one })).toMatchObject({ [key]: one });
  });

  it('that does not exist is wrong usage, which names those that do', async () => {
    await expect(requestOf({}, { [variable]: 'other' })).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining(`"other" is not a valid ${key}`),
      why: expect.stringMatching(new RegExp(`${variable} .*${one}`)),
      next: expect.stringContaining(`--${key}`),
    });
  });
});

it('takes the port of the gateway from the variable, of which 0 is any free one', async () => {
  expect(await requestOf({}, { SHOPCTL_PORT: '' })).not.toHaveProperty('port');
  expect(await requestOf({}, { SHOPCTL_PORT: '0' })).toMatchObject({ port: 0 });
  expect(await requestOf({ port: 8081 }, { SHOPCTL_PORT: '0' })).toMatchObject({ port: 8081 });
  await expect(requestOf({}, { SHOPCTL_PORT: '-1' })).rejects.toMatchObject({ code: 'invalid_configuration' });
});

it('refuses a probe that is neither on nor off', async () => {
  for (const value of ['', 'on', 'off']) await requestOf({}, { SHOPCTL_PROBE: value });
  await expect(requestOf({}, { SHOPCTL_PROBE: 'no' })).rejects.toMatchObject({
    code: 'invalid_configuration',
    message: expect.stringContaining('SHOPCTL_PROBE is "no"'),
    next: expect.stringContaining('"off"'),
  });
});

describe('alerts', () => {
  it('are as they were where nothing is said', async () => {
    expect(await requestOf({})).not.toHaveProperty('alerts');
    expect(await requestOf({}, { SHOPCTL_WITH: '' }, { providers: { prometheus: 'docker' } })).not.toHaveProperty(
      'alerts',
    );
  });

  it.each([
    ['an option', { with: ['alerts'] }, {}, {}],
    ['where Prometheus comes from', { provider: { prometheus: 'packages' } }, {}, {}],
    ['the variable', {}, { SHOPCTL_WITH: ' alerts ' }, {}],
    ['the configuration file', {}, {}, { with: 'alerts' }],
  ] as const)('are asked for by %s', async (_, options, env, config) => {
    expect(await requestOf(options, env, config)).toMatchObject({ alerts: true });
    expect(await requestOf({ ...options, with: [], without: ['alerts'] }, env, config)).toMatchObject({
      alerts: false,
    });
  });

  it('cannot be asked for and left out, and there is no other part', async () => {
    await expect(requestOf({ with: ['alerts'], without: ['alerts'] })).rejects.toMatchObject({ code: 'invalid_usage' });
    await expect(requestOf({}, { SHOPCTL_WITH: 'alerts,more' })).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining('"more" is not a part of the platform'),
    });
  });
});
