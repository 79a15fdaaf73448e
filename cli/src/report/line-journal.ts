import { readFile } from 'node:fs/promises';
import { CliError, messageOf } from '../errors.ts';
import { appendWhole, parseRecord } from '../platform/line-file.ts';

/** The last line of a part that came to its end; after an interruption another part may follow. */
export interface PartEnd {
  readonly type: 'end';
  readonly tookMs: number;
  readonly verdict: 'complete' | 'interrupted';
}

/** A line of a journal says of what kind it is. */
interface Line {
  readonly type: string;
}

/** One line, on the disk when this resolves; a line that a kill has cut off is ended first. */
export function appendLineTo(file: string, line: Line): Promise<void> {
  return appendWhole(file, `${JSON.stringify(line)}\n`);
}

/** Throws CliError (2) for a file that cannot be read, and for what `parse` throws. `command` starts another run. */
export async function readJournal<J>(file: string, command: string, parse: (text: string) => J): Promise<J> {
  try {
    return parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new CliError({
      code: 'invalid_journal',
      what: `cannot read the journal ${file}`,
      why: messageOf(cause),
      next: `start another run with "${command}"`,
      cause,
    });
  }
}

/** The lines of a journal. One that a kill has cut off is left out. Pure. */
export function parseLines<L extends Line>(text: string): readonly L[] {
  return text.split('\n').flatMap((line) => parseRecord<L>(line, ({ type }) => typeof type === 'string') ?? []);
}
