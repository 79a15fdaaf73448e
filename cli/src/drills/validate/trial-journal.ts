import { join } from 'node:path';
import type { Project } from '../../platform/project.ts';
import { createJournaledRun, findJournaledRun, type JournaledRun } from '../../report/journaled-run.ts';
import { appendLineTo, type PartEnd, parseLines, readJournal } from '../../report/line-journal.ts';
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

const parentOf = ({ stateDir }: Pick<Project, 'stateDir'>) => join(stateDir, 'drill-trials');

export function createTrials(project: Pick<Project, 'stateDir'>): Promise<JournaledRun> {
  return createJournaledRun(parentOf(project), { name: 'trials', seed: 1 });
}

/** The run with this id. Throws CliError (2), with the nearest one, where there is none. */
export function findTrials(project: Pick<Project, 'stateDir'>, runId: string): Promise<JournaledRun> {
  return findJournaledRun(parentOf(project), runId, 'shopctl drill validate --all --reference');
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
