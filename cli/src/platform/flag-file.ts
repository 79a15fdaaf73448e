import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FlagName, parseFlags } from '@shop/kit/flag-names.ts';
import { CliError } from '../errors.ts';
import type { Project } from './project.ts';
import { writeSharedFile } from './shared-file.ts';

const NAME = 'flags.json';

/** A separate folder, because a container sees a file that is replaced only when it is given the folder. */
export function flagFolder({ stateDir }: Pick<Project, 'stateDir'>): string {
  return join(stateDir, 'flags');
}

/** The file that running services look at, in the project's folder or where that is mounted; it need not exist. */
export function flagFile(folder: string): string {
  return join(folder, NAME);
}

/** The flags that are on. Throws CliError when the file cannot be read. */
export async function readFlags(file: string): Promise<ReadonlySet<FlagName>> {
  try {
    return parseFlags(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Set();
    throw new CliError({
      code: 'state_unreadable',
      what: 'the feature flags cannot be read',
      why: `${file}: ${(error as Error).message}`,
      next: 'correct the file, or delete it: all flags are off then',
      cause: error,
    });
  }
}

export async function writeFlags(file: string, on: ReadonlySet<FlagName>): Promise<void> {
  const values = Object.fromEntries([...on].sort().map((name) => [name, true]));
  await writeSharedFile(file, `${JSON.stringify(values)}\n`);
}
