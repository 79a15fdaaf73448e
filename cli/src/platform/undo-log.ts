import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CliError, messageOf } from '../errors.ts';
import { unless } from '../shared/unless.ts';
import type { Project } from './project.ts';

/** A fault that is about to be injected, and its undo. */
export interface FaultRecord {
  readonly type: 'fault';
  readonly id: string;
  /** ISO time. */
  readonly time: string;
  readonly fault: string;
  readonly target: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly undo: object;
  readonly ttlMs: number;
  /** It can only be reverted while the platform runs, so it does not keep the platform from starting. */
  readonly needsPlatform?: boolean;
  /** It belongs to a drill: its line is sealed, and a start after `kill -9` reverts it without being asked. */
  readonly hidden?: boolean;
}

/** It has been reverted, which was verified. */
interface RevertedRecord {
  readonly type: 'reverted';
  readonly id: string;
  readonly time: string;
  readonly why: string;
  readonly evidence: string;
  readonly hidden?: boolean;
}

type Entry = FaultRecord | RevertedRecord;

/** An entry as it is written where it must not be read by chance. */
interface SealedEntry {
  readonly type: 'sealed';
  readonly data: string;
}

/** Where undo is kept: a fault is on disk before it happens, and until it is verified to be gone. */
export interface UndoLog {
  /** Resolves when the record is on disk. */
  begin(record: FaultRecord): Promise<void>;
  /**
   * Resolves when it is on disk; the file is emptied when nothing is left in it to be undone, which needs no space on a
   * full disk. One that could not be written is written with the next.
   */
  reverted(record: Omit<RevertedRecord, 'type'>): Promise<void>;
  /** Faults that have not been reverted, the oldest first. */
  open(): Promise<readonly FaultRecord[]>;
}

export function undoFile({ stateDir }: Project): string {
  return join(stateDir, 'chaos', 'undo.jsonl');
}

/** The log in a file (0600); one process writes it at a time: the holder of the project's lock. */
export function createUndoLog(file: string): UndoLog {
  let writing: Promise<unknown> = Promise.resolve();
  const unwritten = new Map<string, RevertedRecord>();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = writing.then(work);
    // The next writer continues; this failure is reported to its own caller.
    writing = result.catch(() => undefined);
    return result;
  };
  return {
    begin: (record) => inTurn(() => append(file, [record])),
    reverted: (record) =>
      inTurn(async () => {
        unwritten.set(record.id, { type: 'reverted', ...record });
        const isLast = (await openFaults(file)).every(({ id }) => unwritten.has(id));
        if (isLast) await empty(file);
        else await append(file, [...unwritten.values()]);
        unwritten.clear();
      }),
    open: () => inTurn(() => openFaults(file)),
  };
}

/**
 * Faults of a file that have not been reverted, the oldest first; none without a file. Throws CliError (6) for a record
 * that cannot be read: which faults are left is unknown then.
 */
export async function openFaults(file: string): Promise<readonly FaultRecord[]> {
  if (!existsSync(file)) return [];
  const text = await readFile(file, 'utf8');
  if (text === '') return [];
  const key = await readFile(keyFileOf(file)).catch(unless('ENOENT'));
  const entries = parseEntries(text, file, key);
  const reverted = new Set(entries.flatMap((entry) => (entry.type === 'reverted' ? [entry.id] : [])));
  return entries.filter((entry): entry is FaultRecord => entry.type === 'fault' && !reverted.has(entry.id));
}

/** A line without its end was cut off by a kill: its fault, if it is one, had not been injected yet. */
function parseEntries(text: string, file: string, key: Buffer | undefined): readonly Entry[] {
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return lines.flatMap((line, index) => (line === '' ? [] : [parseEntry(line, `${file}:${index + 1}`, key)]));
}

function parseEntry(line: string, place: string, key: Buffer | undefined): Entry {
  try {
    const read = JSON.parse(line) as Entry | SealedEntry;
    const entry = read.type === 'sealed' ? unsealed(read, key) : read;
    if (entry.type === 'fault' || entry.type === 'reverted') return entry;
    throw new Error(
      `unknown record type ${JSON.stringify((entry as { type?: unknown }).type)}, of another version of shopctl`,
    );
  } catch (cause) {
    throw new CliError({
      code: 'undo_log_unreadable',
      what: `cannot read the undo log: ${place}`,
      why: messageOf(cause),
      next: 'check that nothing of this fault is left, remove the line, and run "shopctl chaos clear --all"',
      cause,
    });
  }
}

async function append(file: string, entries: readonly Entry[]): Promise<void> {
  const isNew = !existsSync(file);
  if (!isNew) await dropTornLine(file);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const key = entries.some(({ hidden }) => hidden) ? await keyFor(file) : undefined;
  const written = entries.map((entry) => (key !== undefined && entry.hidden ? sealed(entry, key) : entry));
  const handle = await open(file, 'a', 0o600);
  try {
    await handle.appendFile(written.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (isNew) await syncFolder(dirname(file));
}

async function empty(file: string): Promise<void> {
  if (!existsSync(file)) return;
  const handle = await open(file, 'r+');
  try {
    await handle.truncate(0);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const CIPHER = 'aes-256-gcm';
const [KEY_BYTES, NONCE_BYTES, TAG_BYTES] = [32, 12, 16];
/** A sealed line has a multiple of this length, so that its length says little. */
const PADDED_TO = 4_096;

function sealed(entry: Entry, key: Buffer): SealedEntry {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  const text = Buffer.from(JSON.stringify(entry));
  const padding = ' '.repeat(PADDED_TO - (text.length % PADDED_TO));
  const parts = [nonce, cipher.update(text), cipher.update(padding), cipher.final(), cipher.getAuthTag()];
  return { type: 'sealed', data: Buffer.concat(parts).toString('base64') };
}

/** Throws Error for another key, or data that was changed. */
function unsealed({ data }: SealedEntry, key: Buffer | undefined): Entry {
  if (key === undefined) throw new Error('its key is not there');
  const bytes = Buffer.from(data, 'base64');
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
  return JSON.parse(Buffer.concat([text, decipher.final()]).toString()) as Entry;
}

function keyFileOf(file: string): string {
  return join(dirname(file), 'undo.key');
}

/** Beside the log: a start after `kill -9` opens it without a person. It keeps from a look, not from a search. */
async function keyFor(file: string): Promise<Buffer> {
  const known = await readFile(keyFileOf(file)).catch(unless('ENOENT'));
  if (known !== undefined) return known;
  const key = randomBytes(KEY_BYTES);
  await writeFile(keyFileOf(file), key, { mode: 0o600, flush: true });
  return key;
}

/** What a kill has cut off must not swallow the line that comes next. */
async function dropTornLine(file: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  if (text !== '' && !text.endsWith('\n'))
    await truncate(file, Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1)));
}

/** A new file is only there after a power cut when its folder has been written too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
