import type { Verdict } from '../../../shared/verdict.ts';

/** The result of one aspect of a set of orders. */
export interface Aspect {
  readonly verdict: Verdict;
  readonly expected: string;
  readonly observed: string;
  readonly evidence?: string;
}
