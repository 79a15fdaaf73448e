import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { shareFile, writeSharedFile } from './shared-file.ts';

/* Goal: a service reads what is written, whatever user it runs as, and no other user does. */

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('files for another user are not tested: only root can give a file away');

let file: string;
beforeEach(async () => {
  file = join(await mkdtemp(join(tmpdir(), 'shop-shared-')), 'state', 'flags', 'flags.json');
});
afterEach(() => rm(dirname(dirname(dirname(file))), { recursive: true }));

/** Mode and owner of the file and of its folder. */
async function access() {
  const found = await Promise.all([file, dirname(file)].map((path) => stat(path)));
  return found.map(({ mode, uid, gid }) => `${(mode & 0o777).toString(8)} ${uid}:${gid}`);
}

const own = `${process.getuid?.()}:${process.getgid?.()}`;

it('is for its user alone, as its folders are', async () => {
  await writeSharedFile(file, '{}');
  expect(await access()).toEqual([`600 ${own}`, `700 ${own}`]);
  expect((await stat(dirname(dirname(file)))).mode & 0o777).toBe(0o700);
});

it('stays its user’s where containers run as that user', async () => {
  await shareFile(file, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
  await writeSharedFile(file, '{}');
  expect(await access()).toEqual([`600 ${own}`, `700 ${own}`]);
});

it.runIf(isRoot)(
  'is for the user of root’s containers alone, whether it was written before they started or after',
  async () => {
    await writeSharedFile(file, '{"a":true}');
    await shareFile(file, { uid: 1000, gid: 1000 });
    expect(await access()).toEqual(['600 1000:1000', '700 1000:1000']);
    await writeSharedFile(file, '{"b":true}');
    expect(await access()).toEqual(['600 1000:1000', '700 1000:1000']);
    expect(await readFile(file, 'utf8')).toBe('{"b":true}');
  },
);
