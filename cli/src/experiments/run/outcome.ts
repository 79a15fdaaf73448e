import type { Verdict } from '../../audit/invariant.ts';
import type { Outcome } from '../journal-records.ts';

/** What came of one look, or of one action. */
export interface StepResult {
  readonly outcome: Outcome;
  /** One line each, for people. */
  readonly expected?: string | undefined;
  readonly observed?: string | undefined;
  /** May have several lines. */
  readonly evidence?: string | undefined;
  readonly traceIds?: readonly string[] | undefined;
}

const SEVERITY: Readonly<Record<Outcome, number>> = { held: 0, unknown: 1, deviated: 2 };

/** The worst of several: a deviation is certain, whatever else is not known. None at all is `held`. */
export function worst(outcomes: readonly Outcome[]): Outcome {
  return outcomes.reduce<Outcome>((worse, one) => (SEVERITY[one] > SEVERITY[worse] ? one : worse), 'held');
}

/** Evidence is missing, so nothing can be said. */
export function unknown(observed: string, rest: Omit<StepResult, 'outcome' | 'observed'> = {}): StepResult {
  return { outcome: 'unknown', observed, ...rest };
}

/** What an invariant's verdict comes to where it is to hold. One that was skipped was not looked at. */
export const EXPECTED_OK: Readonly<Record<Verdict, Outcome>> = {
  ok: 'held',
  violated: 'deviated',
  unknown: 'unknown',
  skipped: 'unknown',
};
/** The same where it is to be violated. */
export const EXPECTED_VIOLATED: Readonly<Record<Verdict, Outcome>> = {
  ...EXPECTED_OK,
  ok: 'deviated',
  violated: 'held',
};
