import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../errors.ts';
import { appendWhole, readLines, rotate } from './line-file.ts';
import type { Project } from './project.ts';
import { makeStateFolder } from './state-folder.ts';

/** What an operator can change. Faults are not changes: the log is for the question what has caused one. */
export const changeKinds = [
  'acknowledge',
  'configuration',
  'dead-letter',
  'deploy',
  'drain',
  'flag',
  'migration',
  'ops',
  'outbox',
  'point-of-no-return',
  'reroute',
  'restart',
  'scale',
  'shed',
  'silence',
  'start',
  'stop',
  'weight',
] as const;

export type ChangeKind = (typeof changeKinds)[number];

/** Where a change was asked for. */
export type ChangeSource =
  | 'command line'
  | 'up --watch'
  | 'watch'
  | 'experiment'
  | 'drill'
  | 'Alertmanager API'
  | 'unknown';

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
  /** ISO time at which it was begun, of one that takes a while: it may have an effect long before it is done. */
  readonly beganAt?: string;
}

/** One that was recorded. */
export interface RecordedChange extends Change {
  readonly id: string;
  /** ISO time, UTC, at which it was done. */
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

/** Every change that is kept, the oldest first. */
export interface KeptChanges {
  readonly changes: readonly RecordedChange[];
  /** `changes.jsonl:17`: lines that are no change; a kill or a power failure has cut them off. */
  readonly unreadable: readonly string[];
}

/** None where nothing was changed yet. Throws what the file system reports where the file is there and cannot be read. */
export async function readChanges(project: Pick<Project, 'stateDir'>): Promise<KeptChanges> {
  const { values, unreadable } = await readLines(changeFile(project), isRecorded);
  // A process that had opened the file before it was rotated appends to the older part.
  return { changes: values.toSorted((a, b) => a.time.localeCompare(b.time)), unreadable };
}

function isRecorded({ time, kind }: RecordedChange): boolean {
  return typeof time === 'string' && typeof kind === 'string';
}
