import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../../errors.ts';
import type { Project } from '../../platform/project.ts';
import { createRunFolder, type RunFolder } from '../../report/run-folder.ts';
import { suggestName } from '../../shared/suggest-name.ts';
import { unless } from '../../shared/unless.ts';

/** Where an experiment keeps its journal and reports. */
export interface ExperimentFolder extends RunFolder {
  readonly journal: string;
}

function runsFolder({ stateDir }: Pick<Project, 'stateDir'>): string {
  return join(stateDir, 'chaos', 'runs');
}

function withJournal({ runId, path }: RunFolder): ExperimentFolder {
  return { runId, path, journal: join(path, 'journal.jsonl') };
}

export async function createExperimentFolder(
  project: Pick<Project, 'stateDir'>,
  { id, seed }: { id: string; seed: number },
): Promise<ExperimentFolder> {
  return withJournal(await createRunFolder(runsFolder(project), { name: id, seed, at: new Date() }));
}

/** Every run of a project, the oldest first; one that was killed before its first record is none. */
export async function listRuns(project: Pick<Project, 'stateDir'>): Promise<readonly ExperimentFolder[]> {
  const names = (await readdir(runsFolder(project)).catch(unless('ENOENT'))) ?? [];
  return names
    .sort()
    .map((runId) => withJournal({ runId, path: join(runsFolder(project), runId) }))
    .filter(({ journal }) => existsSync(journal));
}

/** The run with this id, or the last one; throws CliError (2) when there is none. */
export async function findRun(
  project: Pick<Project, 'stateDir'>,
  runId: string | undefined,
): Promise<ExperimentFolder> {
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
