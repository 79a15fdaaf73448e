import type { Measured } from './measure/cases.ts';
import type { Summary } from './rounds.ts';

/** A ratio or figure that was promised, and what was found. */
export interface Target {
  readonly what: string;
  readonly value: number;
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** What one group of rows found: a table, what it has to hold, and the figures behind it. */
export interface Section {
  readonly headers: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly targets: readonly Target[];
  /** What a reader has to know to read the table. */
  readonly notes: readonly string[];
  readonly measured: unknown;
}

export function isMet({ value, atLeast, atMost }: Target): boolean {
  return (atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost);
}

/** `0.41, target at least 0.5: missed` */
export function describeTarget(target: Target): string {
  const { what, value, atLeast, atMost } = target;
  const limit = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`;
  return `${what}: ${number(value)} (target ${limit}: ${isMet(target) ? 'met' : 'missed'})`;
}

/** Three significant digits; whole from 100 on. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '-';
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

/** `231 (220-240)`; the median alone when there was one round. */
export function withRange({ median, min, max }: Summary): string {
  return min === max ? number(median) : `${number(median)} (${number(min)}-${number(max)})`;
}

export const CASE_HEADERS = [
  'case',
  'orders/s (range)',
  'p50 ms',
  'p99 ms',
  'CPU ms an order (range)',
  'CPU ms by process',
];

/** The row of a case under `CASE_HEADERS`. */
export function caseRow({ name, failed, perSecond, p50Ms, p99Ms, cpuMs, cpuMsBy }: Measured): readonly string[] {
  const parts = Object.entries(cpuMsBy)
    .filter(([, ms]) => ms >= 0.005)
    .toSorted(([, a], [, b]) => b - a)
    .map(([process, ms]) => `${process} ${ms.toFixed(2)}`);
  const label = failed === 0 ? name : `${name} (${failed} failed)`;
  return [label, withRange(perSecond), number(p50Ms.median), number(p99Ms.median), withRange(cpuMs), parts.join(', ')];
}

/** The case of that name. Throws when it was not measured. */
export function found(cases: readonly Measured[], name: string): Measured {
  const one = cases.find((measured) => measured.name === name);
  if (one === undefined) throw new Error(`nothing was measured as "${name}"`);
  return one;
}
