import { readFile } from 'node:fs/promises';
import { type FlagFile, FlagFileError, parseFlagFile } from '@shop/kit/flag-file.ts';
import { CliError, messageOf } from '../errors.ts';
import { writeSharedFile } from './shared-file.ts';

/* Separate from flag-file.ts: a command that needs the path alone does not load flagd's schema. */

/** For editors. */
const SCHEMA = 'https://flagd.dev/schema/v0/flags.json';

/** What a project's file says. Throws CliError with every mistake in it. */
export async function readFlags(file: string): Promise<FlagFile> {
  try {
    return parseFlagFile(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { flags: {} };
    throw new CliError({
      code: 'state_unreadable',
      what: 'the feature flags cannot be read',
      why: describe(file, error),
      next: 'correct the file, or delete it: all flags are off then',
      cause: error,
    });
  }
}

function describe(file: string, error: unknown): string {
  if (!(error instanceof FlagFileError)) return `${file}: ${messageOf(error)}`;
  const lines = error.problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return lines.length === 1 ? `${file}: ${lines[0]}` : [`${file}:`, ...lines].join('\n');
}

export async function writeFlags(file: string, content: FlagFile): Promise<void> {
  await writeSharedFile(file, `${JSON.stringify({ $schema: SCHEMA, ...content }, undefined, 2)}\n`);
}
