import { DECOYS_FROM_LEVEL, type Scenario } from '../format/schema.ts';

/** One round of a bench: who plays what. */
export interface BenchRound {
  readonly player: string;
  readonly scenario: string;
  /** From 1; each has another seed, and the same one for each player. */
  readonly round: number;
  readonly seed: string;
}

export interface PlanInput {
  readonly players: readonly string[];
  readonly scenarios: readonly Scenario[];
  readonly rounds: number;
  readonly seed: string;
}

/** Every player plays every scenario so many times, with the same seeds. Pure. */
export function planRounds({ players, scenarios, rounds, seed }: PlanInput): readonly BenchRound[] {
  return players.flatMap((player) =>
    scenarios.flatMap(({ id }) =>
      Array.from({ length: rounds }, (_, index) => ({
        player,
        scenario: id,
        round: index + 1,
        seed: `${seed}-${id}-${index + 1}`,
      })),
    ),
  );
}

/** The small set, or all of them. Pure. */
export function scenariosOf(set: 'lite' | 'all', scenarios: readonly Scenario[]): readonly Scenario[] {
  return scenarios.filter(({ lite }) => set === 'all' || lite);
}

/** A scenario without a failure is of level 0, and is played at the first one that has it. Pure. */
export function levelOf({ level, decoys }: Pick<Scenario, 'level' | 'decoys'>): number {
  if (level > 0) return level;
  return decoys.length > 0 ? DECOYS_FROM_LEVEL : 1;
}

export function nameOf({ player, scenario, round }: BenchRound): string {
  return `${player} ${scenario} ${round}`;
}
