import type { CheckVerdict, Verdict } from '../../shared/verdict.ts';

/** The result of one probe, or of one action. */
export interface StepResult {
  readonly verdict: Verdict;
  /** One line each, for people. */
  readonly expected?: string | undefined;
  readonly observed?: string | undefined;
  /** May have several lines. */
  readonly evidence?: string | undefined;
  readonly traceIds?: readonly string[] | undefined;
}

/** Evidence is missing, so the verdict is unknown. */
export function unknown(observed: string, rest: Omit<StepResult, 'verdict' | 'observed'> = {}): StepResult {
  return { verdict: 'unknown', observed, ...rest };
}

/** What the audit's verdict about an invariant means where `wanted` is expected of it. A skipped one shows nothing. */
export function verdictWhere(wanted: 'pass' | 'fail', audited: CheckVerdict): Verdict {
  if (audited === 'unknown' || audited === 'skipped') return 'unknown';
  return audited === wanted ? 'pass' : 'fail';
}
