export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Median and range. Throws RangeError for no values. */
export function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const [min] = sorted;
  const max = sorted.at(-1);
  if (min === undefined || max === undefined) throw new RangeError('no values to summarize');
  const upper = sorted[Math.floor(sorted.length / 2)] as number;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] as number;
  return { median: (lower + upper) / 2, min, max };
}

/**
 * The order of a round's measurements: rotated from round to round, so that a machine that becomes slower or faster
 * meanwhile favours none of them.
 */
export function rotated<T>(items: readonly T[], round: number): readonly T[] {
  const first = round % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}
