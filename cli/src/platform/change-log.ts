import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../errors.ts';
import { takeProjectLock } from '../process/project-lock.ts';
import type { Project } from './project.ts';
import { makeStateFolder } from './state-folder.ts';

/** What an operator can change. Faults are not changes: the log is for the question what has caused one. */
export const changeKinds = [
  'configuration',
  'dead-letter',
  'deploy',
  'drain',
  'flag',
  'migration',
  'ops',
  'outbox',
  'reroute',
  'restart',
  'scale',
  'shed',
  'start',
  'stop',
  'weight',
] as const;

export type ChangeKind = (typeof changeKinds)[number];

/** Where a change was asked for. */
export type ChangeSource = 'command line' | 'up --watch' | 'watch' | 'experiment' | 'unknown';

/** Who asked for a change, and why. */
export interface Asked {
  readonly by: { readonly user: string; readonly source: ChangeSource };
  readonly reason?: string;
}

/** One change to be recorded. */
export interface Change extends Asked {
  readonly kind: ChangeKind;
  /** What was changed: `orders`, `LOG_LEVEL`, `platform`. */
  readonly target: string;
  /** Before and after, for people; null where there was nothing, or nothing is left. */
  readonly from: string | null;
  readonly to: string | null;
  /** The order that it concerns, where it is about one. */
  readonly orderId?: string;
  /** The code of the error with which the change ended; it may be in effect in part. */
  readonly failed?: string;
}

/** One that was recorded. */
export interface RecordedChange extends Change {
  readonly id: string;
  /** ISO time, UTC. */
  readonly time: string;
}

export interface ChangeLog {
  /** Resolves when they are on disk. Never rejects: what was done is done, so a failure to record it is reported. */
  append(...changes: readonly Change[]): Promise<void>;
}

/** One file has up to 4 MiB, some 15,000 changes; one older part of the same size is kept. */
const MAX_BYTES = 4 * 1024 ** 2;

export function changeFile({ stateDir }: Pick<Project, 'stateDir'>): string {
  return join(stateDir, 'changes.jsonl');
}

/** A user of this machine at one of our programs. Without an entry in the list of users, its number. */
export function askedFrom(source: ChangeSource, reason?: string): Asked {
  return { by: { user: userName(), source }, ...(reason !== undefined && { reason }) };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** The log of a project, which commands and the supervisor append to. */
export function createChangeLog(
  project: Pick<Project, 'stateDir'>,
  report: (problem: string) => void,
  { maxBytes = MAX_BYTES, now = () => new Date() } = {},
): ChangeLog {
  const file = changeFile(project);
  return {
    async append(...changes) {
      if (changes.length === 0) return;
      const time = now().toISOString();
      const lines = changes.map((change) => {
        const recorded: RecordedChange = { id: randomUUID().slice(0, 8), time, ...change };
        return `${JSON.stringify(recorded)}\n`;
      });
      try {
        await makeStateFolder(dirname(file));
        await rotate(file, maxBytes);
        await appendWhole(file, lines.join(''));
      } catch (error) {
        report(`${changes.map(describeShort).join(', ')}: not recorded in ${file}: ${messageOf(error)}`);
      }
    },
  };
}

const describeShort = ({ kind, target }: Change) => `${kind} ${target}`;

/** One write for all lines, so that those of two processes do not mix. A line that a kill has cut off is ended first. */
async function appendWhole(file: string, text: string): Promise<void> {
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

/** By one process at a time; another one appends meanwhile, to the part that is moved or to the one after it. */
async function rotate(file: string, maxBytes: number): Promise<void> {
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

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** Every change that is kept, the oldest first. */
export interface KeptChanges {
  readonly changes: readonly RecordedChange[];
  /** `changes.jsonl:17`: lines that are no change; a kill or a power failure has cut them off. */
  readonly unreadable: readonly string[];
}

/** None where nothing was changed yet. Throws what the file system reports where the file is there and cannot be read. */
export async function readChanges(project: Pick<Project, 'stateDir'>): Promise<KeptChanges> {
  const file = changeFile(project);
  const parts = [await readPart(`${file}.1`), await readPart(file)];
  const changes = parts.flatMap((part) => part.changes);
  // A process that had opened the file before it was rotated appends to the older part.
  return {
    changes: changes.toSorted((a, b) => a.time.localeCompare(b.time)),
    unreadable: parts.flatMap((part) => part.unreadable),
  };
}

async function readPart(file: string): Promise<KeptChanges> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { changes: [], unreadable: [] };
    throw error;
  }
  const changes: RecordedChange[] = [];
  const unreadable: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue;
    const change = parse(line);
    if (change) changes.push(change);
    else unreadable.push(`${file}:${index + 1}`);
  }
  return { changes, unreadable };
}

function parse(line: string): RecordedChange | undefined {
  try {
    const value = JSON.parse(line) as RecordedChange;
    return typeof value.time === 'string' && typeof value.kind === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
