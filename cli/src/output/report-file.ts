import { constants, existsSync } from 'node:fs';
import { access, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError, messageOf } from '../errors.ts';

/** Files that a run is to write; undefined: not asked for. */
export interface ReportFiles {
  readonly junit?: string;
  readonly html?: string;
}

/** Looks whether they can be written, before a run is for nothing. Throws CliError (2) when one cannot. */
export async function refuseUnwritable({ junit, html }: ReportFiles): Promise<void> {
  for (const file of [junit, html]) {
    if (file === undefined) continue;
    try {
      await access(dirname(file), constants.W_OK);
      if (existsSync(file)) await access(file, constants.W_OK);
      if (existsSync(file) && (await stat(file)).isDirectory()) throw new Error('it is a folder');
    } catch (cause) {
      throw cannotWrite(file, cause);
    }
  }
}

/**
 * Writes a report into the file that a user chose; `what` names it in the error. Throws CliError (2) when it cannot be
 * written.
 */
export async function writeReportFile(file: string, text: string, what?: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (cause) {
    throw cannotWrite(file, cause, what);
  }
}

/** Exit code 2. */
function cannotWrite(file: string, cause: unknown, what?: string): CliError {
  return new CliError({
    code: 'report_not_writable',
    what: `cannot write ${what === undefined ? '' : `${what} to `}${file}`,
    why: messageOf(cause),
    next: 'name a file in a folder that exists and can be written to',
    cause,
  });
}
