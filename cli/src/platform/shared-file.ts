import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file of a project in one step, so that a service that looks meanwhile sees the old content or the new one.
 * Readable by all: a container runs as another user, and the folder above its folder is ours alone.
 */
export async function writeSharedFile(file: string, content: string): Promise<void> {
  const folder = dirname(file);
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, content, { mode: 0o644 });
  await rename(draft, file);
}
