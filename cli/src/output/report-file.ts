import { writeFile } from 'node:fs/promises';
import { CliError, messageOf } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';

/** Writes what a user wants in a file of their own; `what` names it in the error. Throws CliError (2) when it cannot be written. */
export async function writeReportFile(file: string, text: string, what?: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (cause) {
    throw cannotWrite(file, cause, what);
  }
}

/** Exit code 2. */
export function cannotWrite(file: string, cause: unknown, what?: string): CliError {
  return new CliError({
    what: `cannot write ${what === undefined ? '' : `${what} to `}${file}`,
    why: messageOf(cause),
    next: 'name a file in a folder that exists and can be written to',
    exitCode: exitCodes.usage,
    cause,
  });
}
