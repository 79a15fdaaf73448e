import type { CheckResult } from '../shared/verdict.ts';

interface Failure {
  readonly expected: string;
  readonly observed: string;
  readonly details?: string;
  readonly contract?: CheckResult['contract'];
}

/** A check that did not hold. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
  readonly expected: string;
  readonly observed: string;
  /** More lines for people: a tree diff, the violations. */
  readonly details: string;
  /** What a trace was compared with. */
  readonly contract: CheckResult['contract'];

  constructor({ expected, observed, details = '', contract }: Failure) {
    super(`expected ${expected}, observed ${observed}`);
    this.expected = expected;
    this.observed = observed;
    this.details = details;
    this.contract = contract;
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

/** Throws CheckFailed unless it holds. */
export function expectThat(holds: boolean, failure: Failure): asserts holds {
  if (!holds) throw new CheckFailed(failure);
}
