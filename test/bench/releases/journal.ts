import { appendLineTo, parseLines, readJournal } from '../../../cli/src/report/line-journal.ts';
import type { Machine } from '../report.ts';
import type { Finder } from './trials.ts';

export const JOURNAL_VERSION = 'shop.bench-releases/v1';

/** The first line. */
export interface ReleasesStart {
  readonly type: 'releases';
  readonly version: typeof JOURNAL_VERSION;
  readonly runId: string;
  /** ISO time. */
  readonly startedAt: string;
  readonly machine: Machine;
  /** Orders a second; each is read back. */
  readonly rate: number;
}

/** How a rollout ended: `unknown` where it says nothing about the release. */
export type End = 'promoted' | 'rolled-back' | 'inconclusive' | 'unknown';

/** One rollout as it was played. */
export interface RowRecord {
  readonly type: 'row';
  readonly id: string;
  /** ISO time. */
  readonly startedAt: string;
  readonly end: End;
  /** What found it. */
  readonly by?: Finder;
  /** In the words of the deploy. */
  readonly why: string;
  /** From the first share of the requests to the verdict; where it had no share, from its start. */
  readonly seconds: number;
  /** Orders of customers that failed, from the first share to the end of the rollback. */
  readonly failed: number;
  /** First attempts that the canary served. */
  readonly served: number;
  readonly sent: number;
  /** Orders that the client sent too late: the machine was too busy. */
  readonly late: number;
}

export interface ReleasesJournal {
  readonly start: ReleasesStart;
  /** Of a row that was played again the last one. */
  readonly rows: ReadonlyMap<string, RowRecord>;
}

/** One line, on the disk when this resolves. */
export function appendReleasesLine(file: string, line: ReleasesStart | RowRecord): Promise<void> {
  return appendLineTo(file, line);
}

/** Throws CliError (2) for a file that cannot be read, or is none of this version. */
export function readReleases(file: string): Promise<ReleasesJournal> {
  return readJournal(file, 'npm run bench:releases', parseReleases);
}

/** A line that a kill has cut off is left out: its row is played again. Throws Error for another file. Pure. */
export function parseReleases(text: string): ReleasesJournal {
  const lines = parseLines<ReleasesStart | RowRecord>(text);
  const [start] = lines;
  if (start?.type !== 'releases') throw new Error('its first line is not the start of a run');
  if (start.version !== JOURNAL_VERSION) throw new Error(`it is of version ${start.version}, not ${JOURNAL_VERSION}`);
  return { start, rows: new Map(lines.filter((line) => line.type === 'row').map((line) => [line.id, line])) };
}

/** Those that have no row yet, or one that says nothing. Pure. */
export function waitingIn({ rows }: ReleasesJournal, ids: readonly string[]): readonly string[] {
  return ids.filter((id) => (rows.get(id)?.end ?? 'unknown') === 'unknown');
}
