import { closeSync, createReadStream, fsync, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { CliError, messageOf } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { JournalRecord, NewRecord } from './journal-records.ts';
import type { RunClock } from './run/clock.ts';

/** Where a run writes what happens. */
export interface Journal {
  /** Appends one record, which is in the file when this returns. */
  write(record: NewRecord): void;
  /** Resolves when all that was written is on the disk. */
  sync(): Promise<void>;
  /** Syncs and closes; what is written afterwards is an error of ours. */
  close(): Promise<void>;
}

const fsyncFile = promisify(fsync);

/** Creates the journal of a run that begins now; `clock` gives the records' times. Throws when the file exists. */
export function createJournal(file: string, clock: RunClock): Journal {
  const began = clock.now();
  const descriptor = openSync(file, 'ax', 0o600);
  return {
    // Synchronous: a record is handed to the kernel before anything that follows it happens, so that also kill -9 keeps it.
    write(record) {
      const { type, ...rest } = record;
      const ms = Math.round((clock.now() - began) * 10) / 10;
      const line = JSON.stringify({ type, at: clock.date().toISOString(), ms, ...rest });
      writeSync(descriptor, `${line}\n`);
    },
    sync: () => fsyncFile(descriptor),
    async close() {
      await fsyncFile(descriptor);
      closeSync(descriptor);
    },
  };
}

export interface ReadJournal {
  readonly records: readonly JournalRecord[];
  /** The last line is half a record: the writer was killed. */
  readonly torn: boolean;
}

/** Reads a journal, also one that is being written. Throws CliError (2): no such file, or a line before the last is none. */
export async function readJournal(file: string): Promise<ReadJournal> {
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
      what: `cannot read the journal ${file}`,
      why: messageOf(cause),
      next: 'list the runs there are with "shopctl chaos runs"',
      exitCode: exitCodes.usage,
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
    return undefined; // Told by the caller, unless it is the last line.
  }
}
