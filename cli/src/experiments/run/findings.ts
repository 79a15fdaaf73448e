import { compareVerdicts, type RunVerdict } from '../../shared/verdict.ts';

/** Something that speaks against `pass`. */
export interface Finding {
  readonly verdict: Exclude<RunVerdict, 'pass'>;
  readonly reason: string;
}

/** The worst of the findings with their reasons, worst first; none is a pass. */
export function check(findings: readonly Finding[]): { verdict: RunVerdict; reasons: readonly string[] } {
  const sorted = findings.toSorted((a, b) => compareVerdicts(a.verdict, b.verdict));
  return { verdict: sorted[0]?.verdict ?? 'pass', reasons: sorted.map(({ reason }) => reason) };
}
