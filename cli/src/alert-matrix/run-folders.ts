import { join } from 'node:path';
import type { Project } from '../platform/project.ts';
import { createJournaledRun, findJournaledRun, type JournaledRun } from '../report/journaled-run.ts';

/** What is measured: `shopctl alerts <kind>`. */
export type AlertRunKind = 'matrix' | 'silent';

type Place = Pick<Project, 'stateDir'>;

const parentOf = ({ stateDir }: Place, kind: AlertRunKind) => join(stateDir, 'alerts', kind);

export function createAlertRun(project: Place, kind: AlertRunKind, seed: number): Promise<JournaledRun> {
  return createJournaledRun(parentOf(project, kind), { name: kind, seed });
}

/** The run with this id. Throws CliError (2), with the nearest one, where there is none. */
export function findAlertRun(project: Place, kind: AlertRunKind, runId: string): Promise<JournaledRun> {
  return findJournaledRun(parentOf(project, kind), runId, `shopctl alerts ${kind}`);
}
