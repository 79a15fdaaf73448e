import type { CheckResult } from '../shared/verdict.ts';
import type { VerifyContext } from './context.ts';

/** What a check has seen, with the contract that a trace was compared with. */
export type Evidence = Pick<CheckResult, 'evidence' | 'contract'>;

/** One thing that must hold. */
export interface Check {
  /** Stable, for `--json` and JUnit: `confirmed-trace`. */
  readonly id: string;
  readonly name: string;
  /**
   * Resolves with the evidence, one line, or with that and what else `--json` has. Throws CheckFailed or EvidenceMissing;
   * whatever else is thrown is unknown.
   */
  run(context: VerifyContext): Promise<string | Evidence>;
}
