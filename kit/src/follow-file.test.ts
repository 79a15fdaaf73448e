import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { followFile } from './follow-file.ts';

const soon = { timeout: 5_000, interval: 10 };
/** Longer than a test: what is seen, an event reported. */
const NEVER = { lookEveryMs: 600_000 };

let folder: string;
let file: string;
let count: number;
let following: Disposable | undefined;
const changed = () => {
  count += 1;
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-follow-'));
  file = join(folder, 'file.json');
  count = 0;
});
afterEach(async () => {
  following?.[Symbol.dispose]();
  following = undefined;
  await rm(folder, { recursive: true });
});

async function replace(text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

it('sees that a file is made, replaced and removed, without polling', async () => {
  following = followFile(file, changed, NEVER);
  await replace('1');
  await expect.poll(() => count, soon).toBe(1);
  await replace('2');
  await expect.poll(() => count, soon).toBe(2);
  await rm(file);
  await expect.poll(() => count, soon).toBe(3);
});

it('does not call for other files of the folder', async () => {
  following = followFile(file, changed, NEVER);
  await writeFile(join(folder, 'other.json'), '1');
  await replace('1');
  await expect.poll(() => count, soon).toBe(1);
});

it('sees by polling what no event of the folder reports: a link that is exchanged', async () => {
  for (const version of ['1', '2']) {
    await mkdir(join(folder, version));
    await writeFile(join(folder, version, 'file.json'), version);
  }
  const link = join(folder, 'data');
  await symlink('1', link);
  following = followFile(join(link, 'file.json'), changed, { lookEveryMs: 20 });
  await symlink('2', `${link}.new`);
  await rename(`${link}.new`, link);
  await expect.poll(() => count, soon).toBe(1);
});

it('waits for a folder that is made later', async () => {
  const later = join(folder, 'later', 'file.json');
  following = followFile(later, changed, { lookEveryMs: 20 });
  await mkdir(join(folder, 'later'));
  await writeFile(later, '1');
  await expect.poll(() => count, soon).toBe(1);
});

it('is not called after it was left', async () => {
  const left = followFile(file, changed, { lookEveryMs: 20 });
  left[Symbol.dispose]();
  let other = 0;
  following = followFile(file, () => {
    other += 1;
  });
  await replace('1');
  await expect.poll(() => other, soon).toBe(1);
  expect(count).toBe(0);
});
