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

/** A check that did not hold. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
  readonly expected: string;
  readonly got: string;
  /** More lines for people: a tree diff, the violations. */
  readonly details: string;

  constructor({ expected, got, details = '' }: { expected: string; got: string; details?: string }) {
    super(`expected ${expected}, got ${got}`);
    this.expected = expected;
    this.got = got;
    this.details = details;
  }
}

/** A check about which nothing can be said. */
export class EvidenceMissing extends Error {
  override readonly name = 'EvidenceMissing';
  readonly details: string;

  constructor(message: string, details = '') {
    super(message);
    this.details = details;
  }
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

/** Throws CheckFailed unless it holds. */
export function expectThat(
  holds: boolean,
  failure: { expected: string; got: string; details?: string },
): asserts holds {
  if (!holds) throw new CheckFailed(failure);
}
