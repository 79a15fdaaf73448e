import { statSync } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { unless } from '../shared/unless.ts';

/** One line of a log, of a service (pino JSON) or a component (plain text). */
export interface LogLine {
  /** File name without its ending: `orders-1`, `postgres`, `supervisor`. */
  readonly instance: string;
  /** The parsed record; undefined for plain text. */
  readonly record: Readonly<Record<string, unknown>> | undefined;
  readonly text: string;
  /** ms since the epoch; lines without a time have that of the line before them. */
  readonly timeMs: number;
}

/** The logs of the named services or instances; all of them when none is named. */
export async function logFiles(logDir: string, names: readonly string[]): Promise<readonly string[]> {
  const files = ((await readdir(logDir).catch(unless('ENOENT'))) ?? [])
    .filter((name) => name.endsWith('.log'))
    .map((name) => name.slice(0, -4));
  if (names.length === 0) return files.sort();
  return files.filter((file) => names.some((name) => file === name || file.replace(/-\d+$/, '') === name)).sort();
}

/** Reads a growing file piece by piece; a file that got shorter was rotated and is read from its start. */
export interface LineCursor {
  /** Whole lines that have come since the last call; none while there is no such file. */
  read(): Promise<readonly string[]>;
}

/** A cursor at the start of a file, or at a position in bytes. */
export function openLines(file: string, from = 0): LineCursor {
  let position = from;
  return {
    async read() {
      const { text, size, end } = await readFrom(file, position);
      if (size < position) {
        position = 0;
        return this.read();
      }
      position = end;
      return text.split('\n').filter((line) => line !== '');
    },
  };
}

/** Parsed lines of one instance's log. */
export interface LogCursor {
  read(): Promise<readonly LogLine[]>;
}

/** All there is of one instance's log: also the older part, where it was rotated (see `rotateIfLarge`). */
export async function readLog(logDir: string, instance: string): Promise<readonly LogLine[]> {
  const older = await openLog(logDir, instance, `${instance}.log.1`).read();
  return [...older, ...(await openLog(logDir, instance).read())];
}

/** Where a log ended at some moment, and how it began: a rotated log begins otherwise. */
export interface LogPosition {
  readonly bytes: number;
  readonly head: string;
}

const HEAD_BYTES = 256;

/** The end of an instance's log now; of one that is not there, its start. */
export async function logEnd(logDir: string, instance: string): Promise<LogPosition> {
  const file = join(logDir, `${instance}.log`);
  const bytes = (await stat(file).catch(unless('ENOENT')))?.size ?? 0;
  return { bytes, head: await headOf(file, Math.min(bytes, HEAD_BYTES)) };
}

/**
 * When an instance wrote to its log last, by the clock of this machine: that of the instance may be wrong. Undefined where its log has
 * nothing.
 */
export async function lastWrittenAt(logDir: string, instance: string): Promise<Date | undefined> {
  for (const file of [`${instance}.log`, `${instance}.log.1`]) {
    const found = await stat(join(logDir, file)).catch(unless('ENOENT'));
    if (found !== undefined && found.size > 0) return found.mtime;
  }
  return undefined;
}

/** The first bytes of a file, fewer when it has fewer. One byte is one character. */
async function headOf(file: string, bytes: number): Promise<string> {
  if (bytes === 0) return '';
  const handle = await openIfThere(file);
  if (!handle) return '';
  await using _ = handle;
  const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(bytes), position: 0 });
  return buffer.toString('latin1', 0, bytesRead);
}

/** Lines that were written behind a position, also across one rotation; undefined when older ones are gone by now. */
export async function readLogSince(
  logDir: string,
  instance: string,
  { bytes, head }: LogPosition,
): Promise<readonly LogLine[] | undefined> {
  const [file, older] = [`${instance}.log`, `${instance}.log.1`];
  const begins = async (name: string) => (await headOf(join(logDir, name), head.length)) === head;
  if (await begins(file)) return openLog(logDir, instance, file, bytes).read();
  if (!(await begins(older))) return undefined;
  const before = await openLog(logDir, instance, older, bytes).read();
  return [...before, ...(await openLog(logDir, instance).read())];
}

/** Follows one file of an instance; the log itself unless said otherwise. */
export function openLog(logDir: string, instance: string, file = `${instance}.log`, from = 0): LogCursor {
  const lines = openLines(join(logDir, file), from);
  let lastTimeMs = 0;
  return {
    async read() {
      return (await lines.read()).map((line) => {
        const parsed = parseLine(instance, line, lastTimeMs);
        lastTimeMs = parsed.timeMs;
        return parsed;
      });
    },
  };
}

/** Bytes after `position` up to the last line end; half a line, or half a character, is left for the next time. */
async function readFrom(file: string, position: number): Promise<{ text: string; size: number; end: number }> {
  // Most of the looks of a supervisor find nothing: one call of the system instead of three that are waited for.
  const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: position };
  if (size <= position) return { text: '', size, end: position };
  const handle = await openIfThere(file);
  if (!handle) return { text: '', size: position, end: position };
  await using _ = handle;
  const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(size - position), position });
  const length = bytesRead === 0 ? 0 : buffer.lastIndexOf(10, bytesRead - 1) + 1;
  return { text: buffer.toString('utf8', 0, length), size, end: position + length };
}

function openIfThere(file: string): Promise<FileHandle | undefined> {
  return open(file, 'r').catch(unless('ENOENT'));
}

/** A line of JSON with a time is a record; the first ISO or PostgreSQL-like time in other lines counts as theirs. */
function parseLine(instance: string, text: string, fallbackMs: number): LogLine {
  const record = parseRecord(text);
  const time = record ? Date.parse(String(record.time)) : timeInText(text);
  return { instance, record, text, timeMs: Number.isNaN(time) ? fallbackMs : time };
}

function parseRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    // Half a line after a crash, or text that only looks like JSON: shown as it is.
    return undefined;
  }
}

function timeInText(text: string): number {
  const match = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| UTC|[+-]\d\d:?\d\d)?/.exec(text);
  return match ? Date.parse(match[0].replace(' UTC', 'Z').replace(' ', 'T')) : Number.NaN;
}
