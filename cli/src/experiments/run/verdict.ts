import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import type { RunVerdict } from '../journal-records.ts';

/** Something that speaks against `pass`. */
export interface Finding {
  readonly verdict: Exclude<RunVerdict, 'pass'>;
  readonly reason: string;
}

/** Worst first. A fault that is left matters more than anything that was measured; an interrupted run has measured half. */
const ORDER: readonly RunVerdict[] = ['dirty', 'interrupted', 'deviated', 'unknown', 'pass'];

/** The worst of the findings with their reasons, worst first; none is a pass. */
export function judge(findings: readonly Finding[]): { verdict: RunVerdict; reasons: readonly string[] } {
  const sorted = [...findings].sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
  return { verdict: sorted[0]?.verdict ?? 'pass', reasons: sorted.map(({ reason }) => reason) };
}

/** The worst of several runs; of none it is a pass. */
export function worstVerdict(verdicts: readonly RunVerdict[]): RunVerdict {
  return ORDER.find((one) => verdicts.includes(one)) ?? 'pass';
}

const EXIT_CODES: Readonly<Record<RunVerdict, ExitCode>> = {
  pass: exitCodes.ok,
  deviated: exitCodes.failed,
  unknown: exitCodes.unknown,
  dirty: exitCodes.dirty,
  interrupted: exitCodes.interrupted,
};

export function exitCodeOf(verdict: RunVerdict): ExitCode {
  return EXIT_CODES[verdict];
}
