import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseFlags } from './flag-names.ts';
import { type Flags, openFlags } from './flags.ts';
import { createLogger } from './logger.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const name = 'publish-order-confirmed-v2';
const soon = { timeout: 5_000, interval: 25 };
let folder: string;
let file: string;
let flags: Flags | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-flags-'));
  file = join(folder, 'flags.json');
});
afterEach(async () => {
  flags?.[Symbol.dispose]();
  flags = undefined;
  await rm(folder, { recursive: true });
});

/** Replaced atomically, as writers must. */
async function write(text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

describe('a flag', () => {
  it('is off without a file', async () => {
    flags = await openFlags(undefined, logger);
    expect(flags.isOn(name)).toBe(false);
  });

  it('is what its file says at the start', async () => {
    await write(`{"${name}": true}`);
    flags = await openFlags(file, logger);
    expect(flags.isOn(name)).toBe(true);
  });

  it('goes on when its file appears, and off when it is removed, without a restart', async () => {
    flags = await openFlags(file, logger);
    expect(flags.isOn(name)).toBe(false);
    await write(`{"${name}": true}`);
    await expect.poll(() => flags?.isOn(name), soon).toBe(true);
    await rm(file);
    await expect.poll(() => flags?.isOn(name), soon).toBe(false);
  });

  it('follows a mounted ConfigMap, which Kubernetes replaces by a link to another folder', async () => {
    const publish = async (revision: string, isOn: boolean): Promise<void> => {
      await mkdir(join(folder, revision));
      await writeFile(join(folder, revision, 'flags.json'), `{"${name}": ${isOn}}`);
      await symlink(revision, join(folder, '..data_tmp'));
      await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    await publish('..first', false);
    await symlink('..data/flags.json', file);
    flags = await openFlags(file, logger);
    expect(flags.isOn(name)).toBe(false);
    await publish('..second', true);
    await expect.poll(() => flags?.isOn(name), soon).toBe(true);
  });

  it('stays as it was when its file cannot be read', async () => {
    await write(`{"${name}": true}`);
    let isLogged = () => {};
    const logged = new Promise<void>((resolve) => {
      isLogged = resolve;
    });
    flags = await openFlags(file, { ...logger, info() {}, warn: () => isLogged() } as unknown as typeof logger);
    await write(`{"${name}": "yes"}`);
    await logged;
    expect(flags.isOn(name)).toBe(true);
  });
});

describe('a file of flags', () => {
  it('may name flags that this service does not know', () => {
    expect([...parseFlags(`{"${name}": true, "of-tomorrow": true}`)]).toEqual([name]);
    expect([...parseFlags(`{"${name}": false}`)]).toEqual([]);
  });

  it.each(['[]', 'null', '"on"', `{"${name}": 1}`])('is refused when it is %s', (text) => {
    expect(() => parseFlags(text)).toThrow('feature flags are an object of true and false');
  });
});
