import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandDeps } from '../../command-context.ts';
import { createOutput } from '../../output/output.ts';
import { readChanges } from '../../platform/change-log.ts';
import { flagFile, flagFolder } from '../../platform/flag-file.ts';
import { openProject } from '../../platform/project.ts';
import { runFlagsList, runFlagsSet } from './run-flags.ts';

const name = 'publish-order-confirmed-v2';
let home: string;
let printed: string[];
let deps: CommandDeps;
const file = () => flagFile(flagFolder(deps.projectFrom({})));
const result = () => JSON.parse(printed.splice(0).join(''));

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-flags-'));
  printed = [];
  const env = { SHOPCTL_HOME: home };
  const stdout = { write: (text: string) => printed.push(text) };
  const output = createOutput({ stdout, stderr: { write: () => undefined }, env });
  output.use('json');
  deps = { output, projectFrom: () => openProject('shop', '/clone', env) } as unknown as CommandDeps;
});
afterEach(() => rm(home, { recursive: true }));

describe('shopctl flags', () => {
  it('has all flags off where none was switched', async () => {
    await runFlagsList({}, deps);
    expect(result()).toMatchObject({ flags: [{ name, on: false, service: 'orders' }] });
  });

  it('on, then off: the file says it, and a repeat changes nothing', async () => {
    await runFlagsSet(name, true, {}, deps);
    expect(result()).toMatchObject({ name, on: true, changed: true });
    expect(JSON.parse(await readFile(file(), 'utf8'))).toEqual({ [name]: true });
    await runFlagsSet(name, true, {}, deps);
    expect(result()).toMatchObject({ on: true, changed: false });
    await runFlagsSet(name, false, {}, deps);
    expect(result()).toMatchObject({ on: false, changed: true });
    await runFlagsList({}, deps);
    expect(result()).toMatchObject({ flags: [{ name, on: false }] });
  });

  it('is a change that is recorded, with its reason; a repeat is not', async () => {
    await runFlagsSet(name, true, { reason: 'sale' }, deps);
    await runFlagsSet(name, true, {}, deps);
    await runFlagsSet(name, false, {}, deps);
    const { changes } = await readChanges(deps.projectFrom({}));
    const by = { user: expect.any(String), source: 'command line' };
    expect(changes).toMatchObject([
      { kind: 'flag', target: name, from: 'off', to: 'on', by, reason: 'sale' },
      { kind: 'flag', target: name, from: 'on', to: 'off', by },
    ]);
  });

  it('keeps its file for this user alone', async () => {
    await runFlagsSet(name, true, {}, deps);
    const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
    const { stateDir } = deps.projectFrom({});
    expect([await modeOf(stateDir), await modeOf(flagFolder({ stateDir })), await modeOf(file())]).toEqual([
      0o700, 0o700, 0o600,
    ]);
  });

  it('refuses a flag that does not exist, names those that do, and writes nothing', async () => {
    const refused = runFlagsSet('v3', true, {}, deps);
    await expect(refused).rejects.toMatchObject({ code: 'unknown_flag', why: `the flags are ${name}` });
    await expect(readFile(file())).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('does not write over a file that it cannot read', async () => {
    await runFlagsSet(name, true, {}, deps);
    await writeFile(file(), '{"half');
    await expect(runFlagsSet(name, false, {}, deps)).rejects.toMatchObject({
      code: 'state_unreadable',
      what: 'the feature flags cannot be read',
    });
    expect(await readFile(file(), 'utf8')).toBe('{"half');
  });
});
