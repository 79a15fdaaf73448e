/** A distribution in buckets: `buckets[i]` values are at most `bounds[i]`, the last ones are above all bounds. */
export interface Distribution {
  readonly count: number;
  readonly bounds: readonly number[];
  readonly buckets: readonly number[];
}

/** The sum of distributions, of those with the bounds of the first. Undefined when there is none. */
export function mergeDistributions(distributions: readonly Distribution[]): Distribution | undefined {
  const [first, ...others] = distributions;
  if (first === undefined) return undefined;
  return others.reduce((total, next) => (sameBounds(total, next) ? combine(total, next, 1) : total), first);
}

/** What was added since `before`; all of it when the bounds changed or the counting began again. */
export function distributionSince(now: Distribution, before: Distribution | undefined): Distribution {
  if (before === undefined || before.count > now.count || !sameBounds(now, before)) return now;
  return combine(now, before, -1);
}

function combine(a: Distribution, b: Distribution, sign: 1 | -1): Distribution {
  return {
    count: a.count + sign * b.count,
    bounds: a.bounds,
    buckets: a.buckets.map((bucket, index) => bucket + sign * (b.buckets[index] ?? 0)),
  };
}

function sameBounds(a: Distribution, b: Distribution): boolean {
  return a.bounds.length === b.bounds.length && a.bounds.every((bound, index) => bound === b.bounds[index]);
}

/**
 * The value that a part `q` (0 to 1) of the values does not exceed, linear within its bucket as Prometheus'
 * histogram_quantile has it. The highest bound for values above all bounds. Undefined when there are no values.
 */
export function quantile({ count, bounds, buckets }: Distribution, q: number): number | undefined {
  if (count <= 0) return undefined;
  const rank = q * count;
  let below = 0;
  for (const [index, inBucket] of buckets.entries()) {
    if (inBucket > 0 && below + inBucket >= rank) {
      const upper = bounds[index];
      if (upper === undefined) return bounds.at(-1);
      const lower = index === 0 ? 0 : (bounds[index - 1] as number);
      return lower + ((upper - lower) * (rank - below)) / inBucket;
    }
    below += inBucket;
  }
  return bounds.at(-1);
}
