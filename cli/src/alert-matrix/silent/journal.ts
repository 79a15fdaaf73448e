import { appendLineTo, type PartEnd, parseLines, readJournal } from '../../report/line-journal.ts';
import type { Guard, PageBurn } from '../burns.ts';
import type { CustomerRecord } from '../customers.ts';
import type { Firing } from '../journal.ts';
import type { Situation } from './situations.ts';

export const SILENT_VERSION = 'shop.alert-silent/v1';

/** The first line. */
export interface SilentStart {
  readonly type: 'silent';
  readonly version: typeof SILENT_VERSION;
  readonly runId: string;
  /** ISO time. */
  readonly startedAt: string;
  readonly seed: number;
  readonly scale: number;
  readonly situations: readonly Situation[];
  readonly leftOut: readonly string[];
  readonly burns: readonly PageBurn[];
  readonly guard: Guard;
}

/** One situation as it was measured. Times in ms since the start of its platform. */
export interface SituationRecord extends CustomerRecord {
  readonly type: 'situation';
  readonly situation: Situation;
  /** The project of the platform. */
  readonly platform: string;
  /** ISO time. */
  readonly startedAt: string;
  readonly endedMs: number;
  readonly orders: number;
  readonly firings: readonly Firing[];
  /** Why it is unknown. */
  readonly problems: readonly string[];
}

export type SilentLine = SilentStart | SituationRecord | PartEnd;

export interface SilentJournal {
  readonly start: SilentStart;
  /** Of a situation that was measured again the last record. */
  readonly records: readonly SituationRecord[];
  readonly tookMs: number;
}

export function appendSilentLine(file: string, line: SilentLine): Promise<void> {
  return appendLineTo(file, line);
}

/** Throws CliError (2) for a file that cannot be read, or is none of this version. */
export function readSilentJournal(file: string): Promise<SilentJournal> {
  return readJournal(file, 'shopctl alerts silent', parseSilentJournal);
}

/** A line that was cut off by a kill is left out: its situation is measured again. Throws Error for another file. Pure. */
export function parseSilentJournal(text: string): SilentJournal {
  const parsed = parseLines<SilentLine>(text);
  const [start] = parsed;
  if (start?.type !== 'silent') throw new Error('its first line is not the start of a silent list');
  if (start.version !== SILENT_VERSION) throw new Error(`it is of version ${start.version}, not ${SILENT_VERSION}`);
  const records = parsed.filter((line) => line.type === 'situation');
  const last = new Map(records.map((record) => [record.situation.name, record]));
  const tookMs = parsed.reduce((sum, line) => sum + (line.type === 'end' ? line.tookMs : 0), 0);
  return { start, records: [...last.values()], tookMs };
}
