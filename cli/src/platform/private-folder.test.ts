import { chmod, lchown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePrivateFolder, requireOwnSocket } from './private-folder.ts';

const isRoot = process.getuid?.() === 0;
const ANOTHER_USER = 65_534;

let folder: string;
let socket: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'shopctl-test-')), 'run');
  await makePrivateFolder(folder);
  socket = join(folder, 'control.sock');
  await writeFile(socket, '');
});
afterEach(() => rm(join(folder, '..'), { recursive: true }));

describe('a control socket', () => {
  it('of this user in a folder of this user is used', async () => {
    await expect(requireOwnSocket(socket)).resolves.toBeUndefined();
  });

  it('that does not exist, nor its folder, is accepted', async () => {
    await expect(requireOwnSocket(join(folder, 'none', 'control.sock'))).resolves.toBeUndefined();
  });

  it('in a folder where other users can write is refused', async () => {
    await chmod(folder, 0o770);
    await expect(requireOwnSocket(socket)).rejects.toMatchObject({
      code: 'folder_not_private',
      why: 'other users can write there',
    });
  });

  // Only root can give files to another user.
  it.runIf(isRoot)('of another user is refused', async () => {
    await lchown(socket, ANOTHER_USER, ANOTHER_USER);
    await expect(requireOwnSocket(socket)).rejects.toMatchObject({
      code: 'folder_not_private',
      why: expect.stringContaining('65534'),
    });
  });

  it.runIf(isRoot)('in the folder of another user is refused', async () => {
    await lchown(folder, ANOTHER_USER, ANOTHER_USER);
    await expect(requireOwnSocket(socket)).rejects.toMatchObject({
      code: 'folder_not_private',
      why: expect.stringContaining('65534'),
    });
  });
});

describe('a private folder', () => {
  it('is made for this user only', async () => {
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it('that was open to others is refused, with the command that closes it', async () => {
    const open = join(folder, 'open');
    await mkdir(open);
    await chmod(open, 0o755);
    await expect(makePrivateFolder(open)).rejects.toMatchObject({
      code: 'folder_not_private',
      next: `run "chmod 700 ${open}"`,
    });
  });
});
