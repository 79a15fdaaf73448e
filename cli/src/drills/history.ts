import type { Project } from '../platform/project.ts';
import { familyOf, type MechanismFamily } from './format/vocabulary.ts';
import { readDrillJournal } from './journal/journal-file.ts';
import { recordsOf } from './journal/records.ts';
import { listRounds } from './rounds.ts';
import type { Clocks } from './score/round.ts';
import { isScore, scoreOf } from './score/score.ts';

/** One round of a project. */
export interface PlayedRound {
  readonly id: string;
  readonly level: number;
  readonly trainee: string;
  /** Null until it is over, and of a round that is void or aborted. */
  readonly points: number | null;
  readonly ended: string;
  /** Null before the reveal. */
  readonly scenario: string | null;
  readonly components: readonly string[];
  /** Of its mechanisms. */
  readonly families: readonly MechanismFamily[];
  readonly clocks: Clocks | null;
  /** Its seed or its scenario was known: it counts in no average. */
  readonly isKnown: boolean;
}

/** Every round of a project, the oldest first. Throws CliError (2) for a journal that cannot be read. */
export async function readHistory(project: Pick<Project, 'stateDir'>): Promise<readonly PlayedRound[]> {
  const rounds = await listRounds(project);
  return Promise.all(
    rounds.map(async ({ id, journal }) => {
      const { records } = await readDrillJournal(journal);
      const start = recordsOf(records, 'start')[0];
      const scenario = recordsOf(records, 'reveal')[0]?.envelope.scenario;
      const score = scoreOf(records);
      const truths = scenario?.truths ?? [];
      return {
        id,
        level: start?.level ?? 0,
        trainee: start?.trainee ?? 'unknown',
        points: isScore(score) ? score.points : null,
        ended: isScore(score) ? score.ended : score.why,
        scenario: scenario?.id ?? null,
        components: truths.map(({ component }) => component),
        families: [...new Set(truths.map(({ mechanism }) => familyOf(mechanism)))],
        clocks: isScore(score) ? score.clocks : null,
        isKnown: start?.isSeedKnown ?? false,
      };
    }),
  );
}
