import { join } from 'node:path';
import type { Project } from '../../platform/project.ts';
import { createJournaledRun, findJournaledRun, type JournaledRun } from '../../report/journaled-run.ts';
import { appendLineTo, type PartEnd, parseLines, readJournal } from '../../report/line-journal.ts';
import type { Part } from '../score/part.ts';
import type { Clocks } from '../score/round.ts';
import { type BenchRound, nameOf } from './plan.ts';

export const BENCH_VERSION = 'shop.drill-bench/v1';

/** The first line: what is played. A run that goes on has the same players. */
export interface BenchStart {
  readonly type: 'bench';
  readonly version: typeof BENCH_VERSION;
  readonly runId: string;
  /** ISO time. */
  readonly startedAt: string;
  /** The command of the agent; absent: baselines alone. */
  readonly agent?: string;
  readonly limitMs: number;
  readonly rounds: readonly BenchRound[];
}

/** A round as it was played. */
export interface BenchRecord extends BenchRound {
  readonly type: 'round';
  /** The project of the platform. */
  readonly platform: string;
  /** ISO time. */
  readonly startedAt: string;
  readonly tookMs: number;
  /** Null: the round proves nothing. */
  readonly points: number | null;
  /** Why it ended, or why it has no points. */
  readonly ended: string;
  readonly parts: readonly Part[];
  readonly clocks: Clocks | null;
  readonly isWithoutFailure: boolean;
  /** Diagnoses, and changes of the platform. */
  readonly blames: number;
  readonly actions: number;
  /** Of the round's journal, a copy within the folder of the run. */
  readonly journal: string | null;
  /** Nothing of it is left on the platform, no alert either: another round may follow. */
  readonly isQuiet: boolean;
}

export type BenchLine = BenchStart | BenchRecord | PartEnd;

export interface BenchJournal {
  readonly start: BenchStart;
  /** In the order of the start; of a round that was played again the last one. */
  readonly records: readonly BenchRecord[];
  /** All parts together, ms. */
  readonly tookMs: number;
}

const parentOf = ({ stateDir }: Pick<Project, 'stateDir'>) => join(stateDir, 'drill-bench');

/** The journals of its rounds are in its folder as well. */
export function createBench(project: Pick<Project, 'stateDir'>): Promise<JournaledRun> {
  return createJournaledRun(parentOf(project), { name: 'bench', seed: 1 });
}

/** The run with this id. Throws CliError (2), with the nearest one, where there is none. */
export function findBench(project: Pick<Project, 'stateDir'>, runId: string): Promise<JournaledRun> {
  return findJournaledRun(parentOf(project), runId, 'shopctl drill bench');
}

/** One line, on the disk when this resolves. */
export function appendBenchLine(file: string, line: BenchLine): Promise<void> {
  return appendLineTo(file, line);
}

/** Throws CliError (2) for a file that cannot be read, or is none of this version. */
export function readBench(file: string): Promise<BenchJournal> {
  return readJournal(file, 'shopctl drill bench', parseBench);
}

/** A line that was cut off by a kill is left out: its round is played again. Throws Error for another file. Pure. */
export function parseBench(text: string): BenchJournal {
  const lines = parseLines<BenchLine>(text);
  const [start] = lines;
  if (start?.type !== 'bench') throw new Error('its first line is not the start of a bench');
  if (start.version !== BENCH_VERSION) throw new Error(`it is of version ${start.version}, not ${BENCH_VERSION}`);
  const last = new Map(lines.filter((line) => line.type === 'round').map((line) => [nameOf(line), line]));
  return {
    start,
    records: start.rounds.flatMap((round) => last.get(nameOf(round)) ?? []),
    tookMs: lines.reduce((sum, line) => sum + (line.type === 'end' ? line.tookMs : 0), 0),
  };
}

/** What still has to be played: what has no record, and what proved nothing. Pure. */
export function waitingRounds({ start, records }: BenchJournal): readonly BenchRound[] {
  const proved = new Set(records.filter(({ points }) => points !== null).map(nameOf));
  return start.rounds.filter((round) => !proved.has(nameOf(round)));
}
