import type { CheckVerdict } from '../../shared/verdict.ts';
import type { Outcome } from '../journal-records.ts';

/** The result of one probe, or of one action. */
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

/** Evidence is missing, so the outcome is unknown. */
export function unknown(observed: string, rest: Omit<StepResult, 'outcome' | 'observed'> = {}): StepResult {
  return { outcome: 'unknown', observed, ...rest };
}

/** The outcome of an invariant's verdict where it must hold. A skipped one is unknown. */
export const EXPECTED_OK: Readonly<Record<CheckVerdict, Outcome>> = {
  pass: 'held',
  fail: 'deviated',
  unknown: 'unknown',
  skipped: 'unknown',
};
/** The same where it must be violated. */
export const EXPECTED_VIOLATED: Readonly<Record<CheckVerdict, Outcome>> = {
  ...EXPECTED_OK,
  pass: 'deviated',
  fail: 'held',
};
