import type { Severity } from '../pager/alert.ts';
import { appendLineTo, type PartEnd, parseLines, readJournal } from '../report/line-journal.ts';
import type { Guard, PageBurn } from './burns.ts';
import type { CustomerRecord } from './customers.ts';
import type { Pair } from './pair.ts';

export const JOURNAL_VERSION = 'shop.alert-matrix/v1';

/** The first line: what is measured, and by which rules customers are hit. */
export interface MatrixStart {
  readonly type: 'matrix';
  readonly version: typeof JOURNAL_VERSION;
  readonly runId: string;
  /** ISO time. */
  readonly startedAt: string;
  readonly seed: number;
  /** Orders a second. */
  readonly rate: number;
  readonly pairs: readonly Pair[];
  readonly leftOut: number;
  readonly burns: readonly PageBurn[];
  readonly guard: Guard;
  /** The alerts that have rules, with their severity. */
  readonly alerts: readonly { readonly alertname: string; readonly severity: Severity }[];
}

/** An alert that fired during a pair; times in ms since the start of its load. */
export interface Firing {
  readonly alertname: string;
  readonly severity: Severity;
  /** Of burn rates: `fast`. */
  readonly burn?: string;
  readonly firedMs: number;
  /** Undefined: it still fired when the pair ended. */
  readonly resolvedMs?: number;
}

/** One pair as it was measured. Times in ms since the start of its load. */
export interface PairRecord extends CustomerRecord {
  readonly type: 'pair';
  readonly pair: Pair;
  /** The project of the platform. */
  readonly platform: string;
  /** ISO time of the start of the load. */
  readonly startedAt: string;
  /** Undefined: the fault was never injected. */
  readonly injectedMs?: number;
  readonly revertedMs?: number;
  readonly endedMs: number;
  readonly firings: readonly Firing[];
  /** What was measured of the fault. */
  readonly witness?: string;
  /** Why the pair is unknown. */
  readonly problems: readonly string[];
  /** Faults that could not be reverted. */
  readonly notReverted: readonly string[];
}

export type MatrixLine = MatrixStart | PairRecord | PartEnd;

/** What a journal holds. */
export interface MatrixJournal {
  readonly start: MatrixStart;
  /** By their end; of a pair that was measured again the last one. */
  readonly records: readonly PairRecord[];
  /** All parts together, ms. */
  readonly tookMs: number;
}

/** One line, on the disk when this resolves; a line that a kill has cut off is ended first. */
export function appendLine(file: string, line: MatrixLine): Promise<void> {
  return appendLineTo(file, line);
}

/** Throws CliError (2) for a file that cannot be read, or is none of this version. */
export function readMatrixJournal(file: string): Promise<MatrixJournal> {
  return readJournal(file, 'shopctl alerts matrix', parseJournal);
}

/** A line that was cut off by a kill is left out: its pair is measured again. Throws Error for another file. Pure. */
export function parseJournal(text: string): MatrixJournal {
  const parsed = parseLines<MatrixLine>(text);
  const [start] = parsed;
  if (start?.type !== 'matrix') throw new Error('its first line is not the start of a matrix');
  if (start.version !== JOURNAL_VERSION) throw new Error(`it is of version ${start.version}, not ${JOURNAL_VERSION}`);
  const pairs = parsed.filter((line) => line.type === 'pair');
  const last = new Map(
    pairs.map((record) => [JSON.stringify([record.pair.fault, record.pair.target, record.pair.variant]), record]),
  );
  const tookMs = parsed.reduce((sum, line) => sum + (line.type === 'end' ? line.tookMs : 0), 0);
  return { start, records: [...last.values()], tookMs };
}
