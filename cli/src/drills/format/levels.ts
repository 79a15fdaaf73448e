import { isWithoutFailure, type Scenario } from './schema.ts';

/** What a level trains. */
export interface Level {
  readonly level: number;
  readonly trains: string;
}

const levels: readonly Level[] = [
  { level: 1, trains: 'one part has stopped, or is not reached' },
  { level: 2, trains: 'slow, narrow and partial failures' },
  { level: 3, trains: 'inside databases and the broker, with other changes beside it' },
  { level: 4, trains: 'releases, flags and clocks' },
  { level: 5, trains: 'two failures together, overload, missing telemetry' },
];

/** A level with the number of its scenarios. */
export interface CountedLevel extends Level {
  readonly scenarios: number;
}

/** Rounds without a failure are drawn at every level, and are in no count. Pure. */
export function countLevels(scenarios: readonly Scenario[]): readonly CountedLevel[] {
  return levels.map((level) => {
    const own = scenarios.filter((one) => one.level === level.level && !isWithoutFailure(one));
    return { ...level, scenarios: own.length };
  });
}
