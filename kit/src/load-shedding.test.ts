import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseAdmissionSettings } from './admission-settings.ts';
import { type LoadShedding, openLoadShedding } from './load-shedding.ts';
import { createLogger } from './logger.ts';

const logger = createLogger({ service: 'gateway', instance: 'gateway-test', level: 'silent' });
const soon = { timeout: 5_000, interval: 25 };
const keys = Array.from({ length: 5_000 }, (_, index) => `order-${index}`);
let folder: string;
let file: string;
let shedding: LoadShedding | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-shedding-'));
  file = join(folder, 'admission.json');
});
afterEach(async () => {
  shedding?.[Symbol.dispose]();
  shedding = undefined;
  await rm(folder, { recursive: true });
});

/** Replaced atomically, as writers must. */
async function write(text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

function isShed(key: string | undefined, by = shedding): boolean {
  try {
    by?.admit(key);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'order_shed' });
    return true;
  }
}

const sharePercent = (chosen: readonly string[]) => (chosen.length / keys.length) * 100;

describe('load shedding', () => {
  it('sheds nothing without a file, and everything at 100 %', async () => {
    const none = openLoadShedding(undefined, logger);
    expect(keys.filter((key) => isShed(key, none))).toEqual([]);
    await write('{"shedPercent": 100}');
    shedding = openLoadShedding(file, logger);
    expect(keys.every((key) => isShed(key))).toBe(true);
    expect(isShed(undefined)).toBe(true);
  });

  it('sheds the share of orders, and the same ones again however often they are repeated', async () => {
    await write('{"shedPercent": 30}');
    shedding = openLoadShedding(file, logger);
    const shed = keys.filter((key) => isShed(key));
    // Five standard deviations of 5,000 independent choices are 3.2 %.
    expect(Math.abs(sharePercent(shed) - 30)).toBeLessThan(3.2);
    expect(keys.filter((key) => isShed(key))).toEqual(shed);
    // Also in another instance of the gateway.
    using other = openLoadShedding(file, logger);
    expect(keys.filter((key) => isShed(key, other))).toEqual(shed);
  });

  it('sheds orders without a key by chance', async () => {
    await write('{"shedPercent": 30}');
    const drawn = [0.29, 0.3, 0.9];
    shedding = openLoadShedding(file, logger, { random: () => drawn.shift() ?? 0 });
    expect([isShed(undefined), isShed(undefined), isShed(undefined)]).toEqual([true, false, false]);
  });

  it('follows its file, and admits again an order that it admitted before', async () => {
    shedding = openLoadShedding(file, logger);
    expect(isShed('admitted before')).toBe(false);
    await write('{"shedPercent": 100}');
    await expect.poll(() => isShed(undefined), soon).toBe(true);
    expect(isShed('admitted before')).toBe(false);
    await rm(file);
    await expect.poll(() => isShed(undefined), soon).toBe(false);
  });

  it('sheds one that was not taken like a new one; one that was admitted earlier stays admitted', async () => {
    shedding = openLoadShedding(file, logger);
    shedding.admit('taken');
    // The repeat of an order that was taken may fail on its way.
    shedding.admit('taken')();
    shedding.admit('refused by orders')();
    await write('{"shedPercent": 100}');
    await expect.poll(() => isShed(undefined), soon).toBe(true);
    expect(isShed('refused by orders')).toBe(true);
    expect(isShed('taken')).toBe(false);
  });

  it('remembers the newest keys only', async () => {
    shedding = openLoadShedding(file, logger, { rememberedKeys: 2 });
    for (const key of ['a', 'b', 'c', 'd', 'e']) shedding.admit(key);
    await write('{"shedPercent": 100}');
    await expect.poll(() => isShed(undefined), soon).toBe(true);
    expect(['a', 'b', 'c', 'd', 'e'].filter((key) => isShed(key))).toEqual(['a', 'b']);
  });

  it('stays as it was where the file cannot be read', async () => {
    await write('{"shedPercent": 100}');
    const warned: object[] = [];
    const recording = { ...logger, info: () => undefined, warn: (fields: object) => void warned.push(fields) };
    shedding = openLoadShedding(file, recording as unknown as typeof logger);
    await write('{"half');
    await expect.poll(() => warned.length, soon).toBe(1);
    expect(isShed('an order')).toBe(true);
  });
});

it.each(['', '[]', '30', 'null', '{}', '{"shedPercent": "30"}', '{"shedPercent": -1}', '{"shedPercent": 101}'])(
  'settings of admission are an object with a share from 0 to 100, not %j',
  (text) => expect(() => parseAdmissionSettings(text)).toThrow(),
);
