import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises';
import { takeProjectLock } from '../process/project-lock.ts';
import { unless } from '../shared/unless.ts';

/** One write for all lines, so that those of two processes do not mix; synced. A line that a kill has cut off is ended first. */
export async function appendWhole(file: string, text: string): Promise<void> {
  const handle = await open(file, 'a+', 0o600);
  try {
    const bytes = Buffer.from((await endsInTheMiddle(handle)) ? `\n${text}` : text);
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten < bytes.length) throw new Error(`${bytesWritten} of ${bytes.length} bytes were written`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function endsInTheMiddle(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat();
  if (size === 0) return false;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString() !== '\n';
}

/**
 * A file above the limit becomes the older part, which replaces the one before it. By one process at a time; another one appends
 * meanwhile, to the part that is moved or to the one after it.
 */
export async function rotate(file: string, maxBytes: number): Promise<void> {
  const isLarge = async () => (await sizeOf(file)) > maxBytes;
  if (!(await isLarge())) return;
  const lock = await takeProjectLock(`${file}.lock`);
  if (lock === undefined) return;
  try {
    if (await isLarge()) await rename(file, `${file}.1`);
  } finally {
    await lock.release();
  }
}

/** 0 where there is none. */
export async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(unless('ENOENT')))?.size ?? 0;
}

/** The lines of both parts, the oldest first. */
export interface KeptLines<T> {
  readonly values: readonly T[];
  /** `changes.jsonl:17`: lines that are no such record; a kill or a power failure has cut them off. */
  readonly unreadable: readonly string[];
}

/** The record of a line; undefined where it is none: empty, cut off, or of another kind. Pure. */
export function parseRecord<T>(line: string, isRecord: (value: T) => boolean): T | undefined {
  try {
    const value = JSON.parse(line) as T;
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** None where there is no file yet. Throws what the file system reports where it is there and cannot be read. */
export async function readLines<T>(file: string, isRecord: (value: T) => boolean): Promise<KeptLines<T>> {
  const parts = [await readPart(`${file}.1`, isRecord), await readPart(file, isRecord)];
  return {
    values: parts.flatMap(({ values }) => values),
    unreadable: parts.flatMap(({ unreadable }) => unreadable),
  };
}

async function readPart<T>(file: string, isRecord: (value: T) => boolean): Promise<KeptLines<T>> {
  const text = (await readFile(file, 'utf8').catch(unless('ENOENT'))) ?? '';
  const values: T[] = [];
  const unreadable: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue;
    const value = parseRecord(line, isRecord);
    if (value === undefined) unreadable.push(`${file}:${index + 1}`);
    else values.push(value);
  }
  return { values, unreadable };
}
