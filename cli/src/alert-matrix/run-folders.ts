import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../errors.ts';
import type { Project } from '../platform/project.ts';
import { createRunFolder } from '../report/run-folder.ts';
import { suggestName } from '../shared/suggest-name.ts';

/** Where a run of the matrix keeps its journal. */
export interface MatrixFolder {
  readonly runId: string;
  readonly journal: string;
}

const parentOf = ({ stateDir }: Pick<Project, 'stateDir'>) => join(stateDir, 'alerts', 'matrix');

const folderOf = (project: Pick<Project, 'stateDir'>, runId: string): MatrixFolder => ({
  runId,
  journal: join(parentOf(project), runId, 'journal.jsonl'),
});

export async function createMatrixFolder(project: Pick<Project, 'stateDir'>, seed: number): Promise<MatrixFolder> {
  const { runId } = await createRunFolder(parentOf(project), { name: 'matrix', seed, at: new Date() });
  return folderOf(project, runId);
}

/** The run with this id. Throws CliError (2), with the nearest one, where there is none. */
export async function findMatrixFolder(project: Pick<Project, 'stateDir'>, runId: string): Promise<MatrixFolder> {
  const found = folderOf(project, runId);
  if (!/[/\\]/.test(runId) && existsSync(found.journal)) return found;
  const known = await readdir(parentOf(project)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const nearest = suggestName(runId, known);
  throw new CliError({
    code: 'unknown_run',
    what: `unknown run "${runId}"${nearest ? `, did you mean "${nearest}"?` : ''}`,
    next: known.length > 0 ? `runs are ${known.toSorted().join(', ')}` : 'start one with "shopctl alerts matrix"',
  });
}
