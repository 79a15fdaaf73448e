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
 * Writes the reports that were asked for, each rendered when its turn comes, and returns the files. Throws CliError (2)
 * for one that cannot be written.
 */
export async function writeReportFiles<Kind extends string>(
  files: Readonly<Partial<Record<NoInfer<Kind>, string>>>,
  render: Readonly<Record<Kind, () => string>>,
  mode = 0o666,
): Promise<readonly string[]> {
  const written: string[] = [];
  for (const kind of Object.keys(render) as Kind[]) {
    const file = files[kind];
    if (file === undefined) continue;
    const text = render[kind]();
    try {
      await writeFile(file, text, { mode });
    } catch (cause) {
      throw cannotWrite(file, cause);
    }
    written.push(file);
  }
  return written;
}

/** Exit code 2. */
function cannotWrite(file: string, cause: unknown): CliError {
  return new CliError({
    code: 'report_not_writable',
    what: `cannot write ${file}`,
    why: messageOf(cause),
    next: 'name a file in a folder that exists and can be written to',
    cause,
  });
}
