import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../../errors.ts';
import type { Project } from '../../platform/project.ts';
import { suggestName } from '../../shared/suggest-name.ts';

/** Where a run keeps its journal and reports. */
export interface RunFolder {
  readonly runId: string;
  readonly path: string;
  readonly journal: string;
}

function runsFolder({ stateDir }: Pick<Project, 'stateDir'>): string {
  return join(stateDir, 'chaos', 'runs');
}

function folderOf(project: Pick<Project, 'stateDir'>, runId: string): RunFolder {
  const path = join(runsFolder(project), runId);
  return { runId, path, journal: join(path, 'journal.jsonl') };
}

/** Makes a new folder: `20261121-161500-E08-7`, local time, with a letter more when that is taken. */
export async function createRunFolder(
  project: Pick<Project, 'stateDir'>,
  { id, seed, at }: { id: string; seed: number; at: Date },
): Promise<RunFolder> {
  await mkdir(runsFolder(project), { recursive: true, mode: 0o700 });
  const base = `${stamp(at)}-${id}-${seed}`;
  for (const suffix of ['', ...'bcdefghijklmnopqrstuvwxyz']) {
    const folder = folderOf(project, `${base}${suffix}`);
    try {
      await mkdir(folder.path, { mode: 0o700 });
      return folder;
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

/** Every run of a project, the oldest first; one that was killed before its first record is none. */
export async function listRuns(project: Pick<Project, 'stateDir'>): Promise<readonly RunFolder[]> {
  const names = await readdir(runsFolder(project)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names
    .sort()
    .map((name) => folderOf(project, name))
    .filter(({ journal }) => existsSync(journal));
}

/** The run with this id, or the last one; throws CliError (2) when there is none. */
export async function findRun(project: Pick<Project, 'stateDir'>, runId: string | undefined): Promise<RunFolder> {
  const runs = await listRuns(project);
  const found = runId === undefined ? runs.at(-1) : runs.find((run) => run.runId === runId);
  if (found !== undefined) return found;
  const names = runs.map((run) => run.runId);
  const nearest = runId === undefined ? undefined : suggestName(runId, names);
  throw new CliError({
    code: 'unknown_run',
    what:
      runId === undefined ? 'no runs yet' : `unknown run "${runId}"${nearest ? `, did you mean "${nearest}"?` : ''}`,
    next: runId === undefined ? 'start one with "shopctl chaos run"' : 'list them with "shopctl chaos runs"',
  });
}
