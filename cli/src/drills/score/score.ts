import type { DrillRecord, EndReason } from '../journal/records.ts';
import { scoreAllClear } from './all-clear.ts';
import { scoreDiagnosis } from './diagnose.ts';
import { scoreDetection, scoreMitigation, scoreSafety } from './failure.ts';
import { type Part, rounded } from './part.ts';
import { type Clocks, type Round, roundOf } from './round.ts';

export const RUBRIC = 'v1';

/** A finished round in numbers. */
export interface Score {
  readonly rubric: typeof RUBRIC;
  readonly scenario: string;
  readonly ended: EndReason;
  /** 0 to 100. */
  readonly points: number;
  readonly parts: readonly Part[];
  readonly clocks: Clocks;
}

/** Why a journal has no score. `running`: it has no end yet, or its writer was killed. */
export interface NoScore {
  readonly why: 'running' | 'void' | 'aborted';
  readonly reason: string;
}

/** The score of a journal, from its records alone: the same records always have the same score. */
export function scoreOf(records: readonly DrillRecord[]): Score | NoScore {
  const round = roundOf(records);
  if (round === undefined) return { why: 'running', reason: 'the journal has no end' };
  const { end, scenario, clocks } = round;
  if (end.why === 'void' || end.why === 'aborted') return { why: end.why, reason: end.reason };
  const missing = missingProof(round);
  if (missing !== undefined) return { why: 'void', reason: missing };
  const parts = round.isWithoutFailure
    ? [scoreAllClear(round)]
    : [scoreDetection(round), scoreDiagnosis(round), scoreMitigation(round), scoreSafety(round)];
  const points = rounded(parts.reduce((sum, part) => sum + part.points, 0));
  return { rubric: RUBRIC, scenario: scenario.id, ended: end.why, points, parts, clocks };
}

/** What a failure must have been, to be scored. */
function missingProof({ isWithoutFailure, clocks, symptom }: Round): string | undefined {
  if (isWithoutFailure) return undefined;
  if (clocks.injectedMs === undefined) return 'nothing was injected';
  if (clocks.witnessedMs === undefined) return 'what was injected was never witnessed';
  return symptom === undefined ? 'what was injected had no symptom' : undefined;
}

export function isScore(result: Score | NoScore): result is Score {
  return 'parts' in result;
}
