import type { Rival } from './rivals.ts';

/** Confidence 98 %, tolerance 0.25 (kayenta, NetflixACAJudge.scala). */
const Z = 2.3263478740408408;
const TOLERANCE = 0.25;

/** Error rates of intervals of 10 s, compared once at the end. */
export const kayentaLike: Rival = {
  name: 'Kayenta-like: Mann-Whitney on error rates per 10 s, at the end',
  intervalSeconds: 10,
  start() {
    const [canary, stable]: [number[], number[]] = [[], []];
    return (interval, isEnd) => {
      if (interval.canary.requests > 0) canary.push(interval.canary.bad / interval.canary.requests);
      if (interval.stable.requests > 0) stable.push(interval.stable.bad / interval.stable.requests);
      return isEnd && isHigher(canary, stable);
    };
  },
};

/**
 * Kayenta's classifier of one metric: `High` when the lower end of the confidence interval of the shift exceeds a quarter of its
 * estimate. Both are R's `wilcox.test`: normal approximation, ties, continuity. Source: kayenta, MannWhitneyClassifier.scala.
 */
export function isHigher(experiment: readonly number[], control: readonly number[]): boolean {
  if (experiment.length === 0 || control.length === 0) return false;
  const [x, y] = [experiment.toSorted(ascending), control.toSorted(ascending)];
  // Without any spread there is no interval; R warns, and Kayenta passes equal series before it asks.
  if (x[0] === x.at(-1) && y[0] === y.at(-1)) return (x[0] ?? 0) > (y[0] ?? 0);
  const estimate = shiftAt(x, y, { z: 0, isCorrected: false });
  const lower = shiftAt(x, y, { z: Z, isCorrected: true });
  return lower > TOLERANCE * Math.abs(estimate);
}

const ascending = (a: number, b: number) => a - b;

interface Level {
  readonly z: number;
  readonly isCorrected: boolean;
}

/** The shift at which the rank sum's deviation is `z`, found by halving as R's `uniroot` does. */
function shiftAt(x: readonly number[], y: readonly number[], level: Level): number {
  const least = (x[0] as number) - (y.at(-1) as number);
  const most = (x.at(-1) as number) - (y[0] as number);
  if (deviation(x, y, least, level) <= 0) return least;
  if (deviation(x, y, most, level) >= 0) return most;
  let [low, high] = [least, most];
  while (high - low > 1e-4 * Math.max(1e-3, most - least)) {
    const middle = (low + high) / 2;
    if (deviation(x, y, middle, level) > 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** (W - mean) / sigma - z of `x` - `shift` against `y`, both sorted; ties share their ranks. */
function deviation(x: readonly number[], y: readonly number[], shift: number, { z, isCorrected }: Level): number {
  const [n, m] = [x.length, y.length];
  let [i, j, rank, rankSum, ties] = [0, 0, 0, 0, 0];
  while (i < n || j < m) {
    const value = Math.min(i < n ? (x[i] as number) - shift : Infinity, j < m ? (y[j] as number) : Infinity);
    const [beforeX, beforeY] = [i, j];
    while (i < n && (x[i] as number) - shift <= value) i += 1;
    while (j < m && (y[j] as number) <= value) j += 1;
    const tied = i - beforeX + (j - beforeY);
    rankSum += (i - beforeX) * (rank + (tied + 1) / 2);
    rank += tied;
    ties += tied ** 3 - tied;
  }
  const centered = rankSum - (n * (n + 1)) / 2 - (n * m) / 2;
  const correction = isCorrected ? Math.sign(centered) * 0.5 : 0;
  const sigma = Math.sqrt(((n * m) / 12) * (n + m + 1 - ties / ((n + m) * (n + m - 1))));
  return sigma === 0 ? -z : (centered - correction) / sigma - z;
}
