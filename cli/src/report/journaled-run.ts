import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../errors.ts';
import { suggestName } from '../shared/suggest-name.ts';
import { unless } from '../shared/unless.ts';
import { createRunFolder, type RunFolder } from './run-folder.ts';

/** A run whose journal says how far it has come, so that it can be resumed. */
export interface JournaledRun extends RunFolder {
  readonly journal: string;
}

function runIn(parent: string, runId: string): JournaledRun {
  const path = join(parent, runId);
  return { runId, path, journal: join(path, 'journal.jsonl') };
}

/** Makes the folder of a run below `parent`; its journal is not there yet. */
export async function createJournaledRun(
  parent: string,
  options: { readonly name: string; readonly seed: number },
): Promise<JournaledRun> {
  const { runId } = await createRunFolder(parent, { ...options, at: new Date() });
  return runIn(parent, runId);
}

/** The run with this id below `parent`. Throws CliError (2), with the nearest one, where there is none. `command` starts one. */
export async function findJournaledRun(parent: string, runId: string, command: string): Promise<JournaledRun> {
  const found = runIn(parent, runId);
  if (!/[/\\]/.test(runId) && existsSync(found.journal)) return found;
  const known = (await readdir(parent).catch(unless('ENOENT'))) ?? [];
  const nearest = suggestName(runId, known);
  throw new CliError({
    code: 'unknown_run',
    what: `unknown run "${runId}"${nearest ? `, did you mean "${nearest}"?` : ''}`,
    next: known.length > 0 ? `runs are ${known.toSorted().join(', ')}` : `start one with "${command}"`,
  });
}
