import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { CliError } from '../errors.ts';
import type { Project } from '../platform/project.ts';
import { suggestName } from '../shared/suggest-name.ts';
import { unless } from '../shared/unless.ts';

/** Type of the event with which a round begins; its message has the round's id. */
export const DRILL_STARTED = 'drill.started';

/** Where a round keeps its journal. */
export interface StoredRound {
  readonly id: string;
  readonly journal: string;
}

function roundsFolder({ stateDir }: Pick<Project, 'stateDir'>): string {
  return join(stateDir, 'drills');
}

export function journalOf(project: Pick<Project, 'stateDir'>, id: string): string {
  return join(roundsFolder(project), id, 'journal.jsonl');
}

/** Every round of a project, the oldest first. */
export async function listRounds(project: Pick<Project, 'stateDir'>): Promise<readonly StoredRound[]> {
  const folder = roundsFolder(project);
  const names = (await readdir(folder).catch(unless('ENOENT'))) ?? [];
  return names
    .toSorted()
    .map((id) => ({ id, journal: journalOf(project, id) }))
    .filter(({ journal }) => existsSync(journal));
}

/**
 * The round with this id, or of this journal: a path with a slash, or one that ends in `.jsonl`. Without either the last round of the
 * project. Throws CliError (2).
 */
export async function findRound(project: Pick<Project, 'stateDir'>, name: string | undefined): Promise<StoredRound> {
  if (name !== undefined && (isAbsolute(name) || name.includes('/') || name.endsWith('.jsonl'))) {
    return { id: name, journal: resolve(name) };
  }
  const rounds = await listRounds(project);
  const found = name === undefined ? rounds.at(-1) : rounds.find(({ id }) => id === name);
  if (found) return found;
  const known = rounds.map(({ id }) => id);
  const nearest = name === undefined ? undefined : suggestName(name, known);
  throw new CliError({
    code: 'unknown_round',
    what:
      name === undefined ? 'no rounds yet' : `unknown round "${name}"${nearest ? `, did you mean "${nearest}"?` : ''}`,
    next: known.length > 0 ? `there are ${known.join(', ')}` : 'name the file of a journal: ./journal.jsonl',
  });
}
