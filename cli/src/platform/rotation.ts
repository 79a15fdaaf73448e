import { constants } from 'node:fs';
import { copyFile, readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';

/** 8 MiB a file, and one older part of the same size. */
const MAX_LOG_BYTES = 8 * 1024 ** 2;

/**
 * Bounds a log that another process appends to: its content moves to `<file>.1` and the file starts again at zero. The
 * writers opened it with O_APPEND, so they go on at the new end. Lines written between the two steps are lost; that is
 * the price of giving children the file itself, which costs no CPU and survives our own death. True when it rotated.
 */
export async function rotateIfLarge(file: string, maxBytes = MAX_LOG_BYTES): Promise<boolean> {
  if ((await stat(file)).size <= maxBytes) return false;
  await copyFile(file, `${file}.1`, constants.COPYFILE_FICLONE);
  await truncate(file, 0);
  return true;
}

/** Bounds every log of a folder. */
export async function rotateLogs(folder: string, maxBytes = MAX_LOG_BYTES): Promise<void> {
  for (const name of await readdir(folder))
    if (name.endsWith('.log')) await rotateIfLarge(join(folder, name), maxBytes);
}
