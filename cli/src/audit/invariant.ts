import type { CheckVerdict, Verdict } from '../shared/verdict.ts';
import type { DatabaseName } from '../topology/databases.ts';
import type { OrderFacts } from './facts.ts';
import type { OtherRows } from './horizon.ts';

/**
 * Jepsen's words where they fit: `lost` should be there and is not, `unexpected` is there without a request.
 * `recovered` took effect although the client got no clear response (not a violation), `duplicated` took effect twice.
 * `wrong`: it is there once, with another content. `stuck`: it should have ended.
 */
export type ViolationKind = 'lost' | 'unexpected' | 'recovered' | 'duplicated' | 'wrong' | 'stuck';

export interface Violation {
  readonly kind: ViolationKind;
  /** Undefined when no single order is concerned (a queue, a product, a counter). */
  readonly orderId?: string;
  /** What is concerned then, in words that stay when the numbers change: `product 7`. */
  readonly subject?: string;
  /** What was expected and what is there. */
  readonly detail: string;
}

export interface InvariantResult {
  /** Number in the fault catalog, `I4`. */
  readonly id: string;
  readonly title: string;
  /** `skipped`: not asked for (a single order, or no history). */
  readonly verdict: CheckVerdict;
  /** Counts and sums, one line; for `unknown` what is missing. */
  readonly evidence: string;
  readonly violations: readonly Violation[];
  /** What was violated before the checked run began, and is not among `violations`. */
  readonly preExisting?: readonly Violation[];
  /** There are violations, and evidence is missing beside them. */
  readonly incomplete?: boolean;
  /** Effects that are not there yet and still have time. */
  readonly inFlight: number;
}

/** When things are late. */
export interface Clock {
  /** When the snapshot was taken, ms since 1970 by the database's clock. */
  readonly at: number;
  /** When nothing was in flight (no open saga, outbox 0, queues 0): what is older has no time left. */
  readonly settledAt: number | undefined;
}

/** True when something that follows from an event at `since` had its time. */
export function isOverdue(clock: Clock, since: number, limitMs: number): boolean {
  if (clock.settledAt !== undefined && since <= clock.settledAt) return true;
  return clock.at - since > limitMs;
}

/** What a check says about one order. */
export interface Finding {
  readonly violations: readonly Omit<Violation, 'orderId'>[];
  readonly inFlight?: boolean;
}

/** Checks orders one by one; holds sums only, so that their number does not matter. */
export interface OrderCheck {
  add(facts: OrderFacts): Finding;
  /** Counts and sums of all that were added. */
  evidence(): string;
  /** Violations of the sums, once all orders were added. */
  total?(): readonly Violation[];
}

/** An invariant over the rows of single orders. Pure: without a clock and I/O. */
export interface OrderInvariant {
  readonly id: string;
  readonly title: string;
  /** Without one of these sources nothing can be said. */
  readonly needs: readonly DatabaseName[];
  /** The rows of other databases that it compares orders with, within the horizon (see `areCompared`); absent when it compares none. */
  readonly compares?: readonly OtherRows[];
  start(clock: Clock): OrderCheck;
}

export const NO_FINDINGS: Finding = { violations: [] };

/** A finding of one violation. */
export function violated(kind: ViolationKind, detail: string): Finding {
  return { violations: [{ kind, detail }] };
}

/** Verdict of a finished check: a violation that is certain outweighs evidence that is missing. */
export function verdictOf(violations: readonly Violation[], missing: readonly string[]): Verdict {
  if (violations.some(({ kind }) => kind !== 'recovered')) return 'fail';
  return missing.length > 0 ? 'unknown' : 'pass';
}

/** In a sentence about an invariant: `I4 is violated`. */
export const VERDICT_WORDS = {
  pass: 'holds',
  fail: 'is violated',
  unknown: 'is unknown',
  skipped: 'was skipped',
} as const satisfies Record<CheckVerdict, string>;
