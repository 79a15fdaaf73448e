import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type FlagName, parseFlags } from '@shop/kit/flag-names.ts';
import { CliError } from '../errors.ts';
import type { Project } from './project.ts';

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

/**
 * Replaces the file in one step, so that a service that looks meanwhile sees the old flags or the new ones. Readable by all:
 * a container runs as another user, and the folder above is ours alone.
 */
export async function writeFlags(file: string, on: ReadonlySet<FlagName>): Promise<void> {
  const values = Object.fromEntries([...on].sort().map((name) => [name, true]));
  const folder = dirname(file);
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, `${JSON.stringify(values)}\n`, { mode: 0o644 });
  await rename(draft, file);
}
