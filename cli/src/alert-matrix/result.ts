import type { Severity } from '../pager/alert.ts';
import type { Expectation } from './expected.ts';
import type { Pair } from './pair.ts';

/** What came of one alert under one fault. `hit`: it fired, and belongs to it. `false`: it fired, and does not. */
export type CellVerdict = 'hit' | 'silent' | 'missed' | 'false' | 'unknown';

export interface Cell {
  readonly alertname: string;
  readonly severity: Severity;
  readonly expectation: Expectation;
  readonly verdict: CellVerdict;
  /** From the injection to the alert, s. Undefined: it did not fire. */
  readonly firedS?: number;
}

/** How long a page went on after its fault was reverted. */
export interface Clear {
  readonly alertname: string;
  /** Seconds; Infinity: it still fired when the pair ended. */
  readonly afterS: number;
  /** By its windows it takes longer: see `isSlowToClear`. */
  readonly isSlow: boolean;
}

export interface PairResult {
  readonly pair: Pair;
  readonly name: string;
  /** Of the expectations; undefined where there are none. */
  readonly group: string | undefined;
  readonly verdict: 'pass' | 'fail' | 'unknown' | 'dirty';
  /** Why it is unknown, failed or dirty; in order of importance. */
  readonly reasons: readonly string[];
  /** By the load's own record. */
  readonly isHit: boolean | undefined;
  readonly evidence: string;
  /** Nearly all orders failed while the fault was in effect. */
  readonly isOutage: boolean;
  /** From the injection to the first page that belongs to it, s. */
  readonly detectedS?: number;
  readonly cells: readonly Cell[];
  readonly clears: readonly Clear[];
  readonly platform: string;
}
