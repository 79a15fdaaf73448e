import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readHistory } from './history.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'history-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function read(...lines: readonly object[]) {
  const file = join(folder, 'history.jsonl');
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return readHistory(file);
}

const unclear = { status: 'unclear', time: 1 };

describe('orders that requests without a response may have made', () => {
  it('are one for each request without a key', async () => {
    expect(await read(unclear, unclear)).toMatchObject({ unclearWithoutKey: 2, unclearKeys: new Set() });
  });

  it('are one for all requests of a key', async () => {
    const both = [
      { ...unclear, key: 'a' },
      { ...unclear, key: 'a' },
      { ...unclear, key: 'b' },
    ];
    expect(await read(...both)).toMatchObject({ unclearWithoutKey: 0, unclearKeys: new Set(['a', 'b']) });
  });

  it.each([
    ['Confirmed', 'before'],
    ['Confirmed', 'after'],
    ['unclear', 'before'],
  ])('are none when another request of the key names its order: %s, %s', async (status, when) => {
    const received = { orderId: '5A', status, time: 2, key: 'a' };
    const asked = { ...unclear, key: 'a' };
    const { unclearKeys } = await read(...(when === 'before' ? [received, asked] : [asked, received]));
    expect(unclearKeys).toEqual(new Set());
  });

  it('are still possible when another request of the key was refused', async () => {
    const { unclearKeys } = await read({ ...unclear, key: 'a' }, { status: 'rejected', key: 'a' });
    expect(unclearKeys).toEqual(new Set(['a']));
  });
});

describe('an order with two responses', () => {
  const received = (status: string, reason?: string) => ({ orderId: 'x', status, reason });

  it.each([
    ['the same', [received('Cancelled', 'out of stock'), received('Cancelled', 'out of stock')], false],
    ['once without the reason', [received('Cancelled'), received('Cancelled', 'out of stock')], false],
    ['with two reasons', [received('Cancelled', 'out of stock'), received('Cancelled', 'payment declined')], true],
    ['with two statuses', [received('Cancelled', 'out of stock'), received('Confirmed')], true],
  ])('%s', async (_title, lines, isFlipped) => {
    expect((await read(...lines)).flipped.has('x')).toBe(isFlipped);
  });
});
