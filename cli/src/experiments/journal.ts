import { closeSync, createReadStream, fsync, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { CliError, messageOf } from '../errors.ts';
import type { RunClock } from '../shared/clock.ts';
import { JOURNAL_VERSION, type JournalRecord, type NewRecord } from './journal-records.ts';

/** Where a run writes what happens. */
export interface Journal {
  /** Appends one record, which is in the file when this returns. Never throws: see `problem`. */
  write(record: NewRecord): void;
  /** Resolves when all that was written is on the disk. Never rejects. */
  sync(): Promise<void>;
  /** Syncs and closes; what is written afterwards is an error of ours. */
  close(): Promise<void>;
  /**
   * Why the file does not hold everything (the disk is full), undefined while it does. A run must revert its faults all the
   * same, so this is asked for at its end; nothing is written any more after the first failure.
   */
  problem(): string | undefined;
}

const fsyncFile = promisify(fsync);
const createFile = (file: string) => openSync(file, 'ax', 0o600);

/** Creates the journal of a run that begins now; `clock` gives the records' times. Throws when the file exists. */
export function createJournal(file: string, clock: RunClock, open = createFile): Journal {
  const began = clock.now();
  const descriptor = open(file);
  let problem: string | undefined;
  const sync = async () => {
    await fsyncFile(descriptor).catch((error: unknown) => {
      problem ??= messageOf(error);
    });
  };
  return {
    // Synchronous: a record is handed to the kernel before anything that follows it happens, so that also kill -9 keeps it.
    write(record) {
      const { type, ...rest } = record;
      const ms = Math.round((clock.now() - began) * 10) / 10;
      const line = Buffer.from(`${JSON.stringify({ type, at: clock.date().toISOString(), ms, ...rest })}\n`);
      if (problem !== undefined) return;
      try {
        // A disk that becomes full takes the beginning of a record.
        if (writeSync(descriptor, line) < line.length) problem = 'only the beginning of a record could be written';
      } catch (error) {
        problem = messageOf(error);
      }
    },
    sync,
    async close() {
      await sync();
      closeSync(descriptor);
    },
    problem: () => problem,
  };
}

export interface ReadJournal {
  readonly records: readonly JournalRecord[];
  /** The last line is half a record: the writer was killed. */
  readonly torn: boolean;
}

/**
 * Reads a journal, also one that is being written. Throws CliError (2): no such file, a line before the last is none, or another
 * version has written it.
 */
export async function readJournal(file: string): Promise<ReadJournal> {
  const journal = await readAnyJournal(file);
  if (isOfThisVersion(journal.records)) return journal;
  throw new CliError({
    code: 'invalid_journal',
    what: `cannot read the journal ${file}`,
    why: `another version of shopctl wrote it, this one reads journals of version ${JOURNAL_VERSION}`,
    next: 'run the experiment again; the folder of the old run may have its reports',
  });
}

/** A journal without its first record says nothing about its version. */
export function isOfThisVersion(records: readonly JournalRecord[]): boolean {
  const run = records.find((record) => record.type === 'run');
  return run === undefined || run.version === JOURNAL_VERSION;
}

/** The same of whichever version: what its verdicts mean is not known then. */
export async function readAnyJournal(file: string): Promise<ReadJournal> {
  const records: JournalRecord[] = [];
  let number = 0;
  let broken: number | undefined;
  try {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      number++;
      if (broken !== undefined) throw new Error(`line ${broken} is not a record`);
      const record = parseRecord(line);
      if (record === undefined) broken = number;
      else records.push(record);
    }
  } catch (cause) {
    throw new CliError({
      code: 'invalid_journal',
      what: `cannot read the journal ${file}`,
      why: messageOf(cause),
      next: 'list the runs there are with "shopctl chaos runs"',
      cause,
    });
  }
  return { records, torn: broken !== undefined };
}

function parseRecord(line: string): JournalRecord | undefined {
  try {
    const record = JSON.parse(line) as JournalRecord | null;
    return typeof record === 'object' && record !== null && typeof record.type === 'string' ? record : undefined;
  } catch {
    return undefined; // Reported by the caller, unless it is the last line.
  }
}
