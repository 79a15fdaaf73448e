import { CliError } from '../../errors.ts';
import { durationMs } from '../../shared/duration.ts';
import { DECOYS_FROM_LEVEL, HIGHEST_LEVEL, isWithoutFailure, type Scenario } from '../format/schema.ts';
import { uniform } from './uniform.ts';

/** Share of rounds in which nothing is wrong. */
export const NO_FAILURE_SHARE = 0.15;
/** How far a decoy is moved from the time of its file, at most, ms. */
const DECOY_JITTER_MS = 5_000;

/** A scenario that may be drawn, with its share beside the others. */
export interface Candidate {
  readonly id: string;
  /** Above 0; 1 is usual. */
  readonly weight: number;
}

/** What a round follows from. */
export interface DrawInput {
  readonly seed: string;
  readonly level: number;
  readonly candidates: readonly Candidate[];
}

export interface ScheduledDecoy {
  readonly after: 'injection' | 'page' | 'ack';
  readonly delayMs: number;
  readonly do: Scenario['decoys'][number]['do'];
  readonly target: string;
}

/** When what happens, from the beginning of the round. */
export interface Schedule {
  readonly quietMs: number;
  readonly decoys: readonly ScheduledDecoy[];
  /** Seed of the customers' orders. */
  readonly loadSeed: string;
}

/** A scenario with the times of one round. */
export interface Drawn {
  readonly scenario: Scenario;
  readonly schedule: Schedule;
}

/**
 * Scenarios of a level: its own, and those without a failure. What needs a deploy is left out where the platform has none, decoys
 * below their first level as well.
 */
export function candidatesOf(
  scenarios: readonly Scenario[],
  level: number,
  { hasDeploy, weights = new Map() }: { readonly hasDeploy: boolean; readonly weights?: ReadonlyMap<string, number> },
): readonly Candidate[] {
  return scenarios
    .filter((one) => one.level === level || (one.level === 0 && level > 0))
    .filter(({ decoys }) => decoys.length === 0 || level >= DECOYS_FROM_LEVEL)
    .filter(({ needs }) => hasDeploy || !needs.deploy)
    .map(({ id }) => ({ id, weight: weights.get(id) ?? 1 }))
    .toSorted((a, b) => a.id.localeCompare(b.id));
}

/**
 * The round of a seed. 15 % of the rounds have no failure at every level; the others are drawn by weight. Pure: the same input always
 * is the same round. Throws CliError (2) where there is nothing to draw.
 */
export function draw(scenarios: readonly Scenario[], { seed, level, candidates }: DrawInput): Drawn {
  const known = candidates.flatMap(({ id, weight }) => {
    const scenario = scenarios.find((one) => one.id === id);
    return scenario === undefined ? [] : [{ scenario, weight }];
  });
  const without = known.filter(({ scenario }) => isWithoutFailure(scenario));
  const failing = known.filter(({ scenario }) => !isWithoutFailure(scenario));
  const isWithout = uniform(seed, 'failure') < NO_FAILURE_SHARE;
  const group = (isWithout ? [without, failing] : [failing, without]).find((one) => one.length > 0);
  if (group === undefined) {
    throw new CliError({
      code: 'invalid_argument',
      what: `level ${level} has no scenario`,
      next: `levels are 1 to ${HIGHEST_LEVEL}`,
    });
  }
  const scenario = byWeight(group, uniform(seed, 'scenario'));
  return { scenario, schedule: scheduleOf(scenario, seed) };
}

function byWeight(group: readonly { readonly scenario: Scenario; readonly weight: number }[], at: number): Scenario {
  const total = group.reduce((sum, { weight }) => sum + weight, 0);
  let left = at * total;
  const found = group.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  // The last one, where rounding leaves a rest.
  return (found ?? group.at(-1) ?? raise()).scenario;
}

function raise(): never {
  throw new Error('a group of candidates is never empty');
}

function scheduleOf({ quiet: { from, to }, decoys }: Scenario, seed: string): Schedule {
  return {
    quietMs: Math.round(from + uniform(seed, 'quiet') * (to - from)),
    decoys: decoys.map(({ at, do: what, target }, index) => {
      const [after, delay = ''] = at.split('+') as [ScheduledDecoy['after'], string];
      const jitterMs = Math.round(uniform(seed, `decoy ${index}`) * DECOY_JITTER_MS);
      return { after, delayMs: (durationMs(delay) ?? 0) + jitterMs, do: what, target };
    }),
    loadSeed: Math.floor(uniform(seed, 'load') * 2 ** 48).toString(16),
  };
}
