import { chown, mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { unless } from '../shared/unless.ts';

/** A user by its numbers. */
export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Replaces a file of a project in one step, so that a service that looks meanwhile sees the old content or the new one.
 * It is for the owner of its folder alone.
 */
export async function writeSharedFile(file: string, content: string): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, content, { mode: 0o600 });
  await giveTo(await stat(folder), draft);
  await rename(draft, file);
}

/** Has another user read this file, and what replaces it. Root's containers run as one; only root can give a file away. */
export async function shareFile(file: string, reader: FileOwner): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await giveTo(reader, dirname(file));
  // Its folder alone decides about a file that is still to be written.
  await giveTo(reader, file).catch(unless('ENOENT'));
}

async function giveTo({ uid, gid }: FileOwner, path: string): Promise<void> {
  if (process.getuid?.() === 0) await chown(path, uid, gid);
}
