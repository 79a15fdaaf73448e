import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../errors.ts';
import type { Project } from '../platform/project.ts';
import { createRunFolder } from '../report/run-folder.ts';
import { suggestName } from '../shared/suggest-name.ts';

/** What is measured: `shopctl alerts <kind>`. */
export type AlertRunKind = 'matrix' | 'silent';

/** Where a run keeps its journal. */
export interface AlertRunFolder {
  readonly runId: string;
  readonly journal: string;
}

type Place = Pick<Project, 'stateDir'>;

const parentOf = ({ stateDir }: Place, kind: AlertRunKind) => join(stateDir, 'alerts', kind);

const folderOf = (project: Place, kind: AlertRunKind, runId: string): AlertRunFolder => ({
  runId,
  journal: join(parentOf(project, kind), runId, 'journal.jsonl'),
});

export async function createAlertRun(project: Place, kind: AlertRunKind, seed: number): Promise<AlertRunFolder> {
  const { runId } = await createRunFolder(parentOf(project, kind), { name: kind, seed, at: new Date() });
  return folderOf(project, kind, runId);
}

/** The run with this id. Throws CliError (2), with the nearest one, where there is none. */
export async function findAlertRun(project: Place, kind: AlertRunKind, runId: string): Promise<AlertRunFolder> {
  const found = folderOf(project, kind, runId);
  if (!/[/\\]/.test(runId) && existsSync(found.journal)) return found;
  const known = await readdir(parentOf(project, kind)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const nearest = suggestName(runId, known);
  throw new CliError({
    code: 'unknown_run',
    what: `unknown run "${runId}"${nearest ? `, did you mean "${nearest}"?` : ''}`,
    next: known.length > 0 ? `runs are ${known.toSorted().join(', ')}` : `start one with "shopctl alerts ${kind}"`,
  });
}
