import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { offDefinition } from './flag-file.ts';
import { type Flags, openFlags } from './flags.ts';

const name = 'publish-order-confirmed-v2';
const soon = { timeout: 5_000, interval: 25 };
/** Keys that are the same in each run, as long as those of orders. */
const keys = Array.from({ length: 200 }, (_, index) => `7c9e6679-7425-40de-944b-${String(index).padStart(12, '0')}`);
let folder: string;
let file: string;
let flags: Flags | undefined;
let lines: Record<string, unknown>[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-flags-'));
  file = join(folder, 'flags.json');
  lines = [];
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

const fileWith = (flag: Record<string, unknown>) =>
  JSON.stringify({ flags: { [name]: { ...offDefinition, ...flag } } });
const isOn = fileWith({ defaultVariant: 'on' });
const shareOf = (percent: number) =>
  fileWith({
    targeting: {
      fractional: [
        ['on', percent],
        ['off', 100 - percent],
      ],
    },
  });

async function open(level = 'info'): Promise<void> {
  const logger = pino(
    { level, formatters: { level: (label) => ({ level: label }) } },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  flags = await openFlags(file, logger);
}

const value = (key = 'an order') => flags?.isOn(name, key);

/** The keys for which it is on. */
async function onKeys(): Promise<ReadonlySet<string>> {
  const values = await Promise.all(keys.map(async (key) => [key, await value(key)] as const));
  return new Set(values.filter(([, on]) => on).map(([key]) => key));
}

describe('a flag', () => {
  it('is off without a file', async () => {
    flags = await openFlags(undefined, pino({ level: 'silent' }));
    expect(await value()).toBe(false);
  });

  it.each([
    ['flagd’s format', isOn],
    ['the older format', `{"${name}": true}`],
  ])('is what its file says at the start, in %s', async (_, text) => {
    await write(text);
    await open();
    expect(await value()).toBe(true);
  });

  it('goes on when its file appears, and off when it is removed, without a restart', async () => {
    await open();
    expect(await value()).toBe(false);
    await write(isOn);
    await expect.poll(() => value(), soon).toBe(true);
    await rm(file);
    await expect.poll(() => value(), soon).toBe(false);
  });

  it('is off while it is disabled, whatever else its file says', async () => {
    await write(shareOf(100).replace('ENABLED', 'DISABLED'));
    await open();
    expect(await value()).toBe(false);
  });

  it('follows a mounted ConfigMap, which Kubernetes replaces by a link to another folder', async () => {
    const publish = async (revision: string, text: string): Promise<void> => {
      await mkdir(join(folder, revision));
      await writeFile(join(folder, revision, 'flags.json'), text);
      await symlink(revision, join(folder, '..data_tmp'));
      await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    await publish('..first', fileWith({}));
    await symlink('..data/flags.json', file);
    await open();
    expect(await value()).toBe(false);
    await publish('..second', isOn);
    await expect.poll(() => value(), soon).toBe(true);
  });

  it('stays as it was when its file cannot be read, and the log has every mistake', async () => {
    await write(isOn);
    await open();
    await write(fileWith({ state: 'ON', defaultVariant: 'of' }));
    await expect.poll(() => lines.at(-1)?.msg, soon).toBe('the feature flags stay as they were');
    expect(lines.at(-1)?.reason).toMatch(/\.state: .*; .*\.defaultVariant: /);
    expect(await value()).toBe(true);
  });
});

describe('a share of the keys', () => {
  it('is the same each time and in each instance', async () => {
    await write(shareOf(30));
    await open();
    const first = await onKeys();
    expect(first.size).toBeGreaterThan(20);
    expect(first.size).toBeLessThan(100);
    expect(await onKeys()).toEqual(first);
    flags?.[Symbol.dispose]();
    await open();
    expect(await onKeys()).toEqual(first);
  });

  it('begins while the service runs, and changes', async () => {
    await write(fileWith({}));
    await open();
    expect((await onKeys()).size).toBe(0);
    await write(shareOf(20));
    await expect.poll(async () => (await onKeys()).size, soon).toBeGreaterThan(0);
    const smaller = await onKeys();
    await write(shareOf(60));
    await expect.poll(async () => (await onKeys()).size, soon).toBeGreaterThan(smaller.size);
    expect(smaller.difference(await onKeys()).size).toBe(0);
  });

  it('follows its file also when it becomes a value for all', async () => {
    await write(shareOf(50));
    await open();
    expect((await onKeys()).size).toBeLessThan(keys.length);
    await write(isOn);
    await expect.poll(async () => (await onKeys()).size, soon).toBe(keys.length);
  });
});

describe('an evaluation', () => {
  const events = () => lines.filter(({ event_name: event }) => event === 'feature_flag.evaluation');

  it('is an event at level debug, one for each key', async () => {
    await write(shareOf(100));
    await open('debug');
    await value('order-1');
    expect(events()).toMatchObject([
      {
        level: 'debug',
        msg: 'feature_flag.evaluation',
        'feature_flag.key': name,
        'feature_flag.result.variant': 'on',
        'feature_flag.result.reason': 'targeting_match',
        'feature_flag.provider.name': 'flagd-core',
        'feature_flag.context.id': 'order-1',
      },
    ]);
  });

  it('of a flag without a rule is made when its file is read, not for each key', async () => {
    await write(isOn);
    await open('debug');
    for (const key of keys) await value(key);
    expect(events()).toMatchObject([{ 'feature_flag.result.reason': 'static' }]);
  });

  it('has no line above debug, unless it fails: that has one for all keys', async () => {
    await write(shareOf(50));
    await open();
    await value('order-1');
    expect(lines.map(({ msg }) => msg)).toEqual(['feature flags changed']);
    await write(fileWith({ targeting: { if: [true, 'of-tomorrow'] } }));
    await expect.poll(() => lines.length, soon).toBe(2);
    expect([await value('order-1'), await value('order-2')]).toEqual([false, false]);
    expect(lines.slice(2)).toMatchObject([{ level: 'warn', flag: name }]);
  });
});
