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

const unanswered = { status: 'unclear', time: 1 };

describe('orders that unanswered requests may have made', () => {
  it('are one for each request without a key', async () => {
    expect((await read(unanswered, unanswered)).unclearWithoutId).toBe(2);
  });

  it('are one for all requests of a key', async () => {
    const both = [
      { ...unanswered, key: 'a' },
      { ...unanswered, key: 'a' },
      { ...unanswered, key: 'b' },
    ];
    expect((await read(...both)).unclearWithoutId).toBe(2);
  });

  it.each([
    ['Confirmed', 'before'],
    ['Confirmed', 'after'],
    ['unclear', 'before'],
  ])('are none when another request of the key tells its order: %s, %s', async (status, when) => {
    const told = { orderId: '5A', status, time: 2, key: 'a' };
    const asked = { ...unanswered, key: 'a' };
    expect((await read(...(when === 'before' ? [told, asked] : [asked, told]))).unclearWithoutId).toBe(0);
  });

  it('are still possible when another request of the key was refused', async () => {
    expect((await read({ ...unanswered, key: 'a' }, { status: 'rejected', key: 'a' })).unclearWithoutId).toBe(1);
  });
});
