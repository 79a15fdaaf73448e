import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { appendFile, readFile, truncate } from 'node:fs/promises';
import { CliError, messageOf } from '../../errors.ts';
import type { RunClock } from '../../shared/clock.ts';
import { chained } from './chain.ts';
import type { DrillEvent, DrillRecord } from './records.ts';

export interface DrillJournal {
  /** Appends a record, which is with the kernel when this returns, so that a kill loses none. Throws where it cannot be written. */
  write(event: DrillEvent): DrillRecord;
  /** All records so far. */
  records(): readonly DrillRecord[];
  /** Ends the journal with a record of its length, and syncs it. */
  close(): DrillRecord;
}

/** Creates the journal of a round that begins now, for its user only. Throws when the file exists. */
export function createDrillJournal(file: string, clock: Pick<RunClock, 'now' | 'date'>): DrillJournal {
  const descriptor = openSync(file, 'ax', 0o600);
  const began = clock.now();
  const records: DrillRecord[] = [];
  const write = (event: DrillEvent) => {
    const time = { ms: Math.round(clock.now() - began), at: clock.date().toISOString() };
    const record = chained(event, time, records.at(-1));
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    if (writeSync(descriptor, line) < line.length) throw new Error(`${file}: only a part of a record could be written`);
    records.push(record);
    return record;
  };
  return {
    write,
    records: () => records,
    close() {
      const last = write({ type: 'closed', records: records.length + 1 });
      fsyncSync(descriptor);
      closeSync(descriptor);
      return last;
    },
  };
}

/**
 * Ends the journal of a round whose writer was killed: it is void, and what it was about stays sealed. Nothing is done to a journal
 * that was closed.
 */
export async function voidDrillJournal(file: string, at: Date): Promise<void> {
  const { records, isTorn } = await readDrillJournal(file);
  const last = records.at(-1) as DrillRecord;
  if (last.type === 'closed') return;
  if (isTorn) await truncateToLines(file);
  const time = { ms: Math.max(last.ms, last.ms + at.getTime() - Date.parse(last.at)), at: at.toISOString() };
  const reason = 'the supervisor was killed';
  const end = chained({ type: 'end', why: 'void', reason }, time, last);
  const closed = chained({ type: 'closed', records: records.length + 2 }, time, end);
  await appendFile(file, [end, closed].map((record) => `${JSON.stringify(record)}\n`).join(''), { flush: true });
}

async function truncateToLines(file: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  await truncate(file, Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1)));
}

export interface ReadDrillJournal {
  readonly records: readonly DrillRecord[];
  /** The last line is a part of a record: the writer was killed. */
  readonly isTorn: boolean;
}

/** Throws CliError (2) where there is no file, or a line before the last one is not a record. */
export async function readDrillJournal(file: string): Promise<ReadDrillJournal> {
  try {
    return parseDrillJournal(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new CliError({
      code: 'invalid_journal',
      what: `cannot read the journal ${file}`,
      why: messageOf(cause),
      next: 'name the file journal.jsonl of a round',
      cause,
    });
  }
}

/** The same of its text. Throws Error. */
export function parseDrillJournal(text: string): ReadDrillJournal {
  const lines = text.split('\n');
  const rest = lines.pop() ?? '';
  const records = lines.map((line, index) => {
    const record = parseRecord(line);
    if (record === undefined) throw new Error(`line ${index + 1} is not a record`);
    return record;
  });
  if (records.length === 0) throw new Error('it has no record');
  return { records, isTorn: rest !== '' };
}

function parseRecord(line: string): DrillRecord | undefined {
  try {
    const value = JSON.parse(line) as Partial<DrillRecord> | null;
    const isRecord = typeof value?.type === 'string' && Number.isInteger(value.seq) && typeof value.hash === 'string';
    return isRecord ? (value as DrillRecord) : undefined;
  } catch {
    return undefined; // Reported by the caller, with its line.
  }
}
