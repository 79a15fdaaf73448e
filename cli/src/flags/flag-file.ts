import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FlagName, parseFlags } from '@shop/kit/flag-names.ts';
import { CliError } from '../errors.ts';
import { writeFileAtomically } from '../platform/atomic-file.ts';
import type { Project } from '../platform/project.ts';

/** The file that running services look at; it need not exist. */
export function flagFile({ stateDir }: Pick<Project, 'stateDir'>): string {
  return join(stateDir, 'flags.json');
}

/** The flags that are on. Throws CliError when the file cannot be read. */
export async function readFlags(file: string): Promise<ReadonlySet<FlagName>> {
  try {
    return parseFlags(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Set();
    throw new CliError({
      what: 'the feature flags cannot be read',
      why: `${file}: ${(error as Error).message}`,
      next: 'correct the file, or delete it: all flags are off then',
      cause: error,
    });
  }
}

/** Replaces the file in one step, so that a service that looks meanwhile sees the old flags or the new ones. */
export function writeFlags(file: string, on: ReadonlySet<FlagName>): Promise<void> {
  const values = Object.fromEntries([...on].sort().map((name) => [name, true]));
  return writeFileAtomically(file, `${JSON.stringify(values)}\n`);
}
