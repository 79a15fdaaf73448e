import type { Outcome } from '../../journal-records.ts';

/** The result of one aspect of a set of orders. */
export interface Aspect {
  readonly outcome: Outcome;
  readonly expected: string;
  readonly observed: string;
  readonly evidence?: string;
}
