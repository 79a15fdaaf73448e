import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../../errors.ts';
import type { Project } from '../../platform/project.ts';
import { appendLineTo, type PartEnd, parseLines, readJournal } from '../../report/line-journal.ts';
import { createRunFolder } from '../../report/run-folder.ts';
import { suggestName } from '../../shared/suggest-name.ts';
import { worst } from '../../shared/verdict.ts';
import type { TrialRecord } from './trial.ts';

export const TRIALS_VERSION = 'shop.drill-trials/v1';

/** The first line: what is played. */
export interface TrialsStart {
  readonly type: 'trials';
  readonly version: typeof TRIALS_VERSION;
  readonly runId: string;
  /** ISO time. */
  readonly startedAt: string;
  /** The seed of each round; without one each has its own. */
  readonly seed?: string;
  readonly scenarios: readonly string[];
}

export type TrialsLine = TrialsStart | TrialRecord | PartEnd;

export interface TrialsJournal {
  readonly start: TrialsStart;
  /** In the order of the start; of a scenario that was played again the last one. */
  readonly trials: readonly TrialRecord[];
  /** All parts together, ms. */
  readonly tookMs: number;
}

/** Where a run keeps its journal. */
export interface TrialsFolder {
  readonly runId: string;
  readonly journal: string;
}

const parentOf = ({ stateDir }: Pick<Project, 'stateDir'>) => join(stateDir, 'drill-trials');

export async function createTrials(project: Pick<Project, 'stateDir'>): Promise<TrialsFolder> {
  const { runId, path } = await createRunFolder(parentOf(project), { name: 'trials', seed: 1, at: new Date() });
  return { runId, journal: join(path, FILE) };
}

const FILE = 'journal.jsonl';

/** The run with this id. Throws CliError (2), with the nearest one, where there is none. */
export async function findTrials(project: Pick<Project, 'stateDir'>, runId: string): Promise<TrialsFolder> {
  const parent = parentOf(project);
  const journal = join(parent, runId, FILE);
  if (!/[/\\]/.test(runId) && existsSync(journal)) return { runId, journal };
  const known = await readdir(parent).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const nearest = suggestName(runId, known);
  throw new CliError({
    code: 'unknown_run',
    what: `unknown run "${runId}"${nearest ? `, did you mean "${nearest}"?` : ''}`,
    next:
      known.length > 0
        ? `runs are ${known.toSorted().join(', ')}`
        : 'start one with "shopctl drill validate --all --reference"',
  });
}

/** One line, on the disk when this resolves. */
export function appendTrialsLine(file: string, line: TrialsLine): Promise<void> {
  return appendLineTo(file, line);
}

/** Throws CliError (2) for a file that cannot be read, or is none of this version. */
export function readTrials(file: string): Promise<TrialsJournal> {
  return readJournal(file, 'shopctl drill validate --reference', parseTrials);
}

/** A line that was cut off by a kill is left out: its scenario is played again. Throws Error for another file. Pure. */
export function parseTrials(text: string): TrialsJournal {
  const lines = parseLines<TrialsLine>(text);
  const [start] = lines;
  if (start?.type !== 'trials') throw new Error('its first line is not the start of trials');
  if (start.version !== TRIALS_VERSION) throw new Error(`it is of version ${start.version}, not ${TRIALS_VERSION}`);
  const last = new Map(lines.filter((line) => line.type === 'trial').map((line) => [line.scenario, line]));
  return {
    start,
    trials: start.scenarios.flatMap((id) => last.get(id) ?? []),
    tookMs: lines.reduce((sum, line) => sum + (line.type === 'end' ? line.tookMs : 0), 0),
  };
}

/** What still has to be played: what has no trial, and what a trial said nothing about. Pure. */
export function waitingIn({ start, trials }: TrialsJournal): readonly string[] {
  return start.scenarios.filter((id) => {
    const trial = trials.find(({ scenario }) => scenario === id);
    return trial === undefined || worst(trial.checks.map(({ verdict }) => verdict)) === 'unknown';
  });
}
