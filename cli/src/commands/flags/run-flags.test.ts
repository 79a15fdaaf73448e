import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { offDefinition } from '@shop/kit/flag-file.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandDeps } from '../../command-context.ts';
import { createOutput } from '../../output/output.ts';
import { readChanges } from '../../platform/change-log.ts';
import { flagFile, flagFolder } from '../../platform/flag-file.ts';
import { openProject } from '../../platform/project.ts';
import { runFlagsKill, runFlagsList, runFlagsSet, runFlagsSwitch } from './run-flags.ts';

const name = 'publish-order-confirmed-v2';
let home: string;
let printed: string[];
let warned: string;
let deps: CommandDeps;
const file = () => flagFile(flagFolder(deps.projectFrom({})));
const flagInFile = async () => JSON.parse(await readFile(file(), 'utf8')).flags[name];
const result = () => JSON.parse(printed.splice(0).join(''));

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-flags-'));
  printed = [];
  warned = '';
  const env = { SHOPCTL_HOME: home };
  const stdout = { write: (text: string) => printed.push(text) };
  const stderr = {
    write(text: string) {
      warned += text;
    },
  };
  const output = createOutput({ stdout, stderr, env });
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
    await runFlagsSwitch(name, true, {}, deps);
    expect(result()).toMatchObject({ name, on: true, changed: true });
    expect(await flagInFile()).toEqual({ ...offDefinition, defaultVariant: 'on' });
    await runFlagsSwitch(name, true, {}, deps);
    expect(result()).toMatchObject({ on: true, changed: false });
    await runFlagsSwitch(name, false, {}, deps);
    expect(result()).toMatchObject({ on: false, changed: true });
    await runFlagsList({}, deps);
    expect(result()).toMatchObject({ flags: [{ name, on: false }] });
  });

  it('is a change that is recorded, with its reason; a repeat is not', async () => {
    await runFlagsSwitch(name, true, { reason: 'sale' }, deps);
    await runFlagsSwitch(name, true, {}, deps);
    await runFlagsSwitch(name, false, {}, deps);
    const { changes } = await readChanges(deps.projectFrom({}));
    const by = { user: expect.any(String), source: 'command line' };
    expect(changes).toMatchObject([
      { kind: 'flag', target: name, from: 'off', to: 'on', by, reason: 'sale' },
      { kind: 'flag', target: name, from: 'on', to: 'off', by },
    ]);
  });

  it('keeps its file for this user alone', async () => {
    await runFlagsSwitch(name, true, {}, deps);
    const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
    const { stateDir } = deps.projectFrom({});
    expect([await modeOf(stateDir), await modeOf(flagFolder({ stateDir })), await modeOf(file())]).toEqual([
      0o700, 0o700, 0o600,
    ]);
  });

  it('refuses a flag that does not exist, names those that do, and writes nothing', async () => {
    const refused = runFlagsSwitch('v3', true, {}, deps);
    await expect(refused).rejects.toMatchObject({ code: 'unknown_flag', why: `the flags are ${name}` });
    await expect(readFile(file())).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('suggests the flag that was meant', async () => {
    await expect(runFlagsSwitch('publish-order-confirmed', true, {}, deps)).rejects.toMatchObject({
      what: `there is no flag "publish-order-confirmed", did you mean "${name}"?`,
    });
  });

  it('set --percent: a share, which on and off end', async () => {
    await runFlagsSet(name, { percent: 5 }, deps);
    expect(result()).toMatchObject({ on: false, percent: 5, state: 'ENABLED', defaultVariant: 'off', changed: true });
    const fractional = [
      ['on', 5],
      ['off', 95],
    ];
    expect(await flagInFile()).toEqual({ ...offDefinition, targeting: { fractional } });
    await runFlagsSet(name, { percent: 5 }, deps);
    expect(result()).toMatchObject({ changed: false });
    await runFlagsSwitch(name, true, {}, deps);
    expect(result()).toMatchObject({ on: true, percent: 100, changed: true });
    expect(await flagInFile()).toEqual({ ...offDefinition, defaultVariant: 'on' });
  });

  it('kill: off, with its rules kept, recorded with its reason; set --percent ends it', async () => {
    await runFlagsSet(name, { percent: 20 }, deps);
    await runFlagsKill(name, { reason: 'declined orders' }, deps);
    printed = [];
    expect(await flagInFile()).toMatchObject({ state: 'DISABLED', targeting: { fractional: expect.any(Array) } });
    await runFlagsKill(name, { reason: 'again' }, deps);
    expect(result()).toMatchObject({ on: false, percent: 0, state: 'DISABLED', changed: false });
    await runFlagsSet(name, { percent: 1 }, deps);
    expect(result()).toMatchObject({ percent: 1, state: 'ENABLED' });
    expect((await readChanges(deps.projectFrom({}))).changes).toMatchObject([
      { from: 'off', to: '20 %' },
      { from: '20 %', to: 'killed', reason: 'declined orders' },
      { from: 'killed', to: '1 %' },
    ]);
  });

  it('set --owner and --expires: metadata, which later changes keep; ls warns after the day', async () => {
    await runFlagsSet(name, { owner: 'team orders', expires: '2026-12-31' }, deps);
    await runFlagsSwitch(name, true, {}, deps);
    expect((await flagInFile()).metadata).toEqual({ owner: 'team orders', expires: '2026-12-31' });
    expect((await readChanges(deps.projectFrom({}))).changes).toMatchObject([
      { from: 'off, owner -, expires -', to: 'off, owner team orders, expires 2026-12-31' },
      { from: 'off', to: 'on' },
    ]);
    printed = [];
    await runFlagsList({}, deps, new Date('2026-12-31T23:59:59Z'));
    expect(result().flags[0]).toMatchObject({ owner: 'team orders', expires: '2026-12-31', expired: false });
    expect(warned).toBe('');
    await runFlagsList({}, deps, new Date('2027-01-01T00:00:00Z'));
    expect(result().flags[0]).toMatchObject({ expired: true });
    expect(warned).toContain(`${name} expired on 2026-12-31`);
  });

  it('set needs something to set', async () => {
    await expect(runFlagsSet(name, {}, deps)).rejects.toMatchObject({ code: 'invalid_usage' });
  });

  it('reads a file in the older format, and rewrites it in flagd’s with all that was in it', async () => {
    await runFlagsSwitch(name, true, {}, deps);
    await writeFile(file(), `{"${name}":true,"of-tomorrow":true}`);
    printed = [];
    await runFlagsList({}, deps);
    expect(result()).toMatchObject({ flags: [{ name, on: true }] });
    expect(warned).toContain('no flag has the name "of-tomorrow"');
    await runFlagsSwitch(name, false, {}, deps);
    expect(JSON.parse(await readFile(file(), 'utf8'))).toEqual({
      $schema: 'https://flagd.dev/schema/v0/flags.json',
      flags: { [name]: offDefinition, 'of-tomorrow': { ...offDefinition, defaultVariant: 'on' } },
    });
  });

  it('does not discard rules that were written by hand; kill keeps them', async () => {
    await runFlagsSwitch(name, true, {}, deps);
    const targeting = { if: [{ starts_with: [{ var: 'targetingKey' }, '7'] }, 'on', 'off'] };
    await writeFile(file(), JSON.stringify({ flags: { [name]: { ...offDefinition, targeting } } }));
    const refused = { code: 'flag_has_rules' };
    await expect(runFlagsSwitch(name, false, {}, deps)).rejects.toMatchObject(refused);
    await expect(runFlagsSet(name, { percent: 5, owner: 'a' }, deps)).rejects.toMatchObject(refused);
    await runFlagsKill(name, { reason: 'a defect' }, deps);
    expect(await flagInFile()).toEqual({ ...offDefinition, state: 'DISABLED', targeting });
    await expect(runFlagsSwitch(name, true, {}, deps)).rejects.toMatchObject({ code: 'flag_has_rules' });
  });

  it('reports every mistake of a file with its path, and writes nothing', async () => {
    await runFlagsSwitch(name, true, {}, deps);
    const text = JSON.stringify({ flags: { [name]: { ...offDefinition, state: 'ON', defaultVariant: 'of' } } });
    await writeFile(file(), text);
    await expect(runFlagsKill(name, { reason: 'a defect' }, deps)).rejects.toMatchObject({
      code: 'state_unreadable',
      why: [
        `${file()}:`,
        `flags.${name}.state: expected "ENABLED" or "DISABLED"`,
        `flags.${name}.defaultVariant: expected one of its variants: on, off`,
      ].join('\n'),
    });
    expect(await readFile(file(), 'utf8')).toBe(text);
  });

  it('does not write over a file that it cannot read', async () => {
    await runFlagsSwitch(name, true, {}, deps);
    await writeFile(file(), '{"half');
    await expect(runFlagsSwitch(name, false, {}, deps)).rejects.toMatchObject({
      code: 'state_unreadable',
      what: 'the feature flags cannot be read',
    });
    expect(await readFile(file(), 'utf8')).toBe('{"half');
  });
});
