import { upperTail } from '../../../cli/src/deploy/analysis/binomial.ts';

/** A table of the page, with what it must not exceed. */
export interface Table {
  readonly title: string;
  readonly note: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What was promised, and whether it held. */
  readonly promises: readonly Promised[];
}

export interface Promised {
  readonly what: string;
  readonly value: number;
  readonly least?: number;
  readonly most?: number;
}

export const isKept = ({ value, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY }: Promised) =>
  value >= least && value <= most;

/** How much is simulated: 1 for the page, less for a look. */
export interface Scale {
  readonly seed: number;
  readonly part: number;
}

export const runsOf = ({ part }: Scale, runs: number) => Math.max(12, Math.round(runs * part));

export function percent(share: number): string {
  const value = share * 100;
  if (value === 0 || value === 100) return `${value} %`;
  return `${value < 10 || value > 99 ? value.toFixed(1) : Math.round(value)} %`;
}

/** The error rates of stable and canary: `0.5 -> 2 %`. */
export const change = (stable: number, canary: number) =>
  `${Number((stable * 100).toPrecision(3))} → ${Number((canary * 100).toPrecision(3))} %`;

/** What is promised is refuted by what comes less often than that, were it true: there are a hundred figures. */
const CHANCE = 1e-4;

/** The most that a share of `runs` may be, when at most `promised` is true. */
export function within(promised: number, runs: number): number {
  let count = Math.floor(promised * runs);
  while (upperTail(runs, count + 1, promised) >= CHANCE) count += 1;
  return count / runs;
}
