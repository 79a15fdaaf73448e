/** A check that did not hold. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
  readonly expected: string;
  readonly observed: string;
  /** More lines for people: a tree diff, the violations. */
  readonly details: string;

  constructor({ expected, observed, details = '' }: { expected: string; observed: string; details?: string }) {
    super(`expected ${expected}, observed ${observed}`);
    this.expected = expected;
    this.observed = observed;
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

/** Throws CheckFailed unless it holds. */
export function expectThat(
  holds: boolean,
  failure: { expected: string; observed: string; details?: string },
): asserts holds {
  if (!holds) throw new CheckFailed(failure);
}
