import type { Comparison, CountTolerance, DurationComparison, NumberComparison, Tolerance } from '../format/schema.ts';

/** What a tolerance can be asked about. */
export type Value = string | number | boolean | null;

/** True when the value is within the tolerance. Pure. */
export function isWithin(value: Value, tolerance: Tolerance | CountTolerance | DurationComparison): boolean {
  if (typeof tolerance !== 'object' || tolerance === null) return value === tolerance;
  return Object.entries(tolerance as Comparison).every(([key, bound]) =>
    compare(value, key as keyof Comparison, bound),
  );
}

function compare(value: Value, key: keyof Comparison, bound: unknown): boolean {
  switch (key) {
    case 'eq':
      return value === bound;
    case 'ne':
      return value !== bound;
    case 'gt':
      return typeof value === 'number' && value > (bound as number);
    case 'gte':
      return typeof value === 'number' && value >= (bound as number);
    case 'lt':
      return typeof value === 'number' && value < (bound as number);
    case 'lte':
      return typeof value === 'number' && value <= (bound as number);
    case 'in':
      return (bound as readonly unknown[]).includes(value);
    case 'range': {
      const [low, high] = bound as readonly [number, number];
      return typeof value === 'number' && value >= low && value <= high;
    }
    case 'matches':
      return typeof value === 'string' && new RegExp(bound as string).test(value);
    default:
      // The loader lets no other key through; one that came all the same must not hold.
      return false;
  }
}

const WORDS: Readonly<Record<string, string>> = { eq: '', ne: 'not', gt: '>', gte: '>=', lt: '<', lte: '<=' };

/** `>= 4000, <= 4700`; `unit` stands behind numbers. */
export function describeTolerance(
  tolerance: Tolerance | CountTolerance | DurationComparison | NumberComparison,
  unit = '',
): string {
  const show = (value: unknown) => (typeof value === 'number' ? `${round(value)}${unit}` : String(value));
  if (typeof tolerance !== 'object' || tolerance === null) return show(tolerance);
  return Object.entries(tolerance)
    .map(([key, bound]) => {
      if (key === 'in') return `one of ${(bound as readonly unknown[]).map(show).join(', ')}`;
      if (key === 'range') return (bound as readonly unknown[]).map(show).join(' to ');
      if (key === 'matches') return `/${String(bound)}/`;
      return `${WORDS[key] ?? key} ${show(bound)}`.trim();
    })
    .join(', ');
}

/** At most one digit after the point. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
