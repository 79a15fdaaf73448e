import { appendFileSync, closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, statSync } from 'node:fs';
import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** 8 MiB a file, and one older part of the same size. */
const MAX_LOG_BYTES = 8 * 1024 ** 2;

/**
 * Bounds a log that another process appends to: its content moves to `<file>.1` and the file starts again at zero. The
 * writers opened it with O_APPEND, so they go on at the new end. What was written during the copy is added
 * synchronously, so that only a line written in the few microseconds before the end is lost. That is the price of
 * giving children the file itself, which costs no CPU and survives our own end. True when it rotated.
 */
export async function rotateIfLarge(file: string, maxBytes = MAX_LOG_BYTES): Promise<boolean> {
  if (statSync(file).size <= maxBytes) return false;
  const older = `${file}.1`;
  await copyFile(file, older, constants.COPYFILE_FICLONE);
  const log = openSync(file, 'r+');
  try {
    const copied = statSync(older).size;
    const rest = Buffer.alloc(Math.max(0, fstatSync(log).size - copied));
    if (readSync(log, rest, { position: copied }) > 0) appendFileSync(older, rest);
    ftruncateSync(log, 0);
  } finally {
    closeSync(log);
  }
  return true;
}

/** Bounds every log of a folder. */
export async function rotateLogs(folder: string, maxBytes = MAX_LOG_BYTES): Promise<void> {
  for (const name of await readdir(folder))
    if (name.endsWith('.log')) await rotateIfLarge(join(folder, name), maxBytes);
}
