import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../errors.ts';

/** Where a run keeps its files. */
export interface RunFolder {
  readonly runId: string;
  readonly path: string;
}

/** Makes a folder below `parent`: `20261121-161500-E08-7`, local time, with a letter more when that is taken. */
export async function createRunFolder(
  parent: string,
  { name, seed, at }: { name: string; seed: number; at: Date },
): Promise<RunFolder> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const base = `${stamp(at)}-${name}-${seed}`;
  for (const suffix of ['', ...'bcdefghijklmnopqrstuvwxyz']) {
    const runId = `${base}${suffix}`;
    const path = join(parent, runId);
    try {
      await mkdir(path, { mode: 0o700 });
      return { runId, path };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new CliError({
    code: 'too_many_runs',
    what: `there are too many runs ${base}`,
    next: 'try again a second later',
  });
}

function stamp(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}`;
  return `${day}-${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}`;
}
