import type { VerifyContext } from './context.ts';

/** One thing that must hold. */
export interface Check {
  /** Stable, for `--json` and JUnit: `confirmed-trace`. */
  readonly id: string;
  readonly name: string;
  /** Resolves with the evidence, one line. Throws CheckFailed or EvidenceMissing; whatever else is thrown is unknown. */
  run(context: VerifyContext): Promise<string>;
}
