import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeStateFolder } from './state-folder.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-state-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

it('makes every folder that is missing, for its user only, also twice concurrently', async () => {
  const folder = join(home, 'a', 'b');
  await Promise.all([makeStateFolder(folder), makeStateFolder(folder)]);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

it('says where and why it cannot, and what to do', async () => {
  await writeFile(join(home, 'file'), '');
  await expect(makeStateFolder(join(home, 'file', 'shop'))).rejects.toMatchObject({
    what: expect.stringContaining(join(home, 'file', 'shop')),
    why: expect.stringContaining(join(home, 'file')),
    next: expect.stringContaining('SHOPCTL_HOME'),
    code: 'folder_unusable',
  });
});

it('says so of a folder that is there and read-only', async (test) => {
  if (process.getuid?.() === 0) return test.skip('root may write everywhere');
  await mkdir(join(home, 'fixed'), { mode: 0o500 });
  await expect(makeStateFolder(join(home, 'fixed'))).rejects.toMatchObject({ code: 'folder_unusable' });
});

it('gives up in a file system that takes no folders', async (test) => {
  if (!existsSync('/proc/self')) return test.skip('this machine has no /proc');
  await expect(makeStateFolder('/proc/no-such-place/shop/logs')).rejects.toMatchObject({ code: 'folder_unusable' });
});
