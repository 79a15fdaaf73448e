import type { VerifyContext } from './context.ts';

/** `unknown`: the evidence is missing, which is never a pass. */
export type Verdict = 'ok' | 'failed' | 'unknown';

/** One thing that must hold. */
export interface Check {
  /** Stable, for `--json` and JUnit: `confirmed-trace`. */
  readonly id: string;
  readonly title: string;
  /** Resolves with the evidence, one line. Throws CheckFailed or EvidenceMissing; whatever else is thrown is unknown. */
  run(context: VerifyContext): Promise<string>;
}

export interface CheckResult {
  readonly id: string;
  readonly title: string;
  readonly verdict: Verdict;
  /** What was seen; for `failed` and `unknown` why. */
  readonly evidence: string;
  readonly expected?: string;
  readonly got?: string;
  readonly details?: string;
  readonly durationMs: number;
}
