import { percentile } from '../shared/statistics.ts';
import type { Scenario } from './format/schema.ts';
import { familyOf, type MechanismFamily } from './format/vocabulary.ts';
import type { PlayedRound } from './history.ts';

/** Rounds of which a median is taken: the last ones, because a trainee learns. */
const LATEST = 5;
/** Rounds with so many points of the level below unlock a level. */
const UNLOCKED_BY = { rounds: 3, points: 70 };

/** How rounds about one component, or one family of mechanisms, went lately. Medians of the last five that count. */
export interface Progress {
  readonly by: 'component' | 'family';
  readonly name: string;
  /** All that count, of which the last five are in the medians. */
  readonly rounds: number;
  readonly points: number;
  /** After the symptom, ms; null where no round has it. */
  readonly detectedMs: number | null;
  readonly diagnosedMs: number | null;
  readonly recoveredMs: number | null;
}

/** Rounds that count, by component and by family, each in the order of its name. Pure. */
export function progressOf(rounds: readonly PlayedRound[]): readonly Progress[] {
  const counted = rounds.filter(counts);
  const groups = (by: Progress['by'], namesOf: (round: PlayedRound) => readonly string[]) => {
    const names = [...new Set(counted.flatMap(namesOf))].toSorted();
    return names.map((name) =>
      summary(
        by,
        name,
        counted.filter((round) => namesOf(round).includes(name)),
      ),
    );
  };
  return [...groups('component', ({ components }) => components), ...groups('family', ({ families }) => families)];
}

/** It has a score, and neither its seed nor its scenario was known. */
function counts({ points, isKnown }: PlayedRound): boolean {
  return points !== null && !isKnown;
}

function summary(by: Progress['by'], name: string, rounds: readonly PlayedRound[]): Progress {
  const latest = rounds.slice(-LATEST);
  const median = (values: readonly (number | undefined)[]) => {
    const known = values.filter((value) => value !== undefined);
    return percentile(known, 0.5) ?? null;
  };
  const after = (key: 'detectedMs' | 'diagnosedMs' | 'recoveredMs') =>
    median(
      latest.map(({ clocks }) => {
        const [ms, symptomMs] = [clocks?.[key], clocks?.symptomMs];
        return ms === undefined || symptomMs === undefined ? undefined : Math.max(0, ms - symptomMs);
      }),
    );
  return {
    by,
    name,
    rounds: rounds.length,
    points: median(latest.map(({ points }) => points ?? undefined)) ?? 0,
    detectedMs: after('detectedMs'),
    diagnosedMs: after('diagnosedMs'),
    recoveredMs: after('recoveredMs'),
  };
}

/** A level, whether a trainee may play it, and how the trainee did. */
export interface LevelProgress {
  readonly isUnlocked: boolean;
  /** Good rounds of the level below that are still missing. */
  readonly missing: number;
  readonly rounds: number;
  /** Of the last five that count; null without any. */
  readonly points: number | null;
}

/** Level 1 is open; each other one after three good rounds of the level below. Pure. */
export function levelProgress(level: number, trainee: string, rounds: readonly PlayedRound[]): LevelProgress {
  const own = rounds.filter((round) => counts(round) && round.trainee === trainee);
  const good = own.filter((one) => one.level === level - 1 && (one.points ?? 0) >= UNLOCKED_BY.points).length;
  const missing = level <= 1 ? 0 : Math.max(0, UNLOCKED_BY.rounds - good);
  const played = own.filter((one) => one.level === level);
  const points = percentile(
    played.slice(-LATEST).map((one) => one.points ?? 0),
    0.5,
  );
  return { isUnlocked: missing === 0, missing, rounds: played.length, points: points ?? null };
}

/** A family that was never played is as likely as one with half of the points. */
const UNPLAYED_POINTS = 50;

/**
 * Weights by scenario: 1 for a family of mechanisms with all points in the last five rounds, 5 for one with none. Rounds without a
 * failure keep their share. Pure.
 */
export function weakWeights(
  scenarios: readonly Scenario[],
  rounds: readonly PlayedRound[],
): Readonly<Record<string, number>> {
  const families = progressOf(rounds).filter(({ by }) => by === 'family');
  const pointsOf = (family: MechanismFamily) => families.find(({ name }) => name === family)?.points ?? UNPLAYED_POINTS;
  return Object.fromEntries(
    scenarios.map(({ id, truths }) => {
      const points = Math.min(...truths.map(({ mechanism }) => pointsOf(familyOf(mechanism))));
      return [id, 1 + Math.round((100 - points) / 2.5) / 10];
    }),
  );
}
