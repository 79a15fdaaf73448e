import { type ArmEvents, logExcess } from '../../../cli/src/deploy/analysis/excess.ts';
import { drawBinomial, drawPoisson, type Random } from '../../../cli/src/deploy/analysis/random.ts';
import type { Rival } from './rivals.ts';

/** Error rates of both arms in a second. */
export interface Rates {
  readonly canary: number;
  readonly stable: number;
}

export interface Traffic {
  readonly share: number;
  readonly ratePerSecond: number;
  readonly seconds: number;
  /** Called once for each second, from 0. */
  ratesAt(second: number): Rates;
}

/** What came of some minutes at one share, second by second: every rule looks at the same. */
export interface Recorded {
  readonly share: number;
  readonly canary: Int32Array;
  readonly canaryBad: Int32Array;
  readonly stable: Int32Array;
  readonly stableBad: Int32Array;
}

export function record({ share, ratePerSecond, seconds, ratesAt }: Traffic, random: Random): Recorded {
  const column = () => new Int32Array(seconds);
  const all = { share, canary: column(), canaryBad: column(), stable: column(), stableBad: column() };
  for (let second = 0; second < seconds; second += 1) {
    const requests = drawPoisson(random, ratePerSecond);
    const canary = drawBinomial(random, requests, share);
    const rates = ratesAt(second);
    all.canary[second] = canary;
    all.stable[second] = requests - canary;
    all.canaryBad[second] = drawBinomial(random, canary, rates.canary);
    all.stableBad[second] = drawBinomial(random, requests - canary, rates.stable);
  }
  return all;
}

/** After how many seconds the canary is rolled back; undefined: never. */
export type Rule = (recorded: Recorded) => number | undefined;

/** Test E, with the least span of failures that the analysis demands; 0 is without that. */
export function testE({ alpha, spanSeconds }: { readonly alpha: number; readonly spanSeconds: number }): Rule {
  const limit = -Math.log(alpha);
  return ({ share, canaryBad, stableBad }) => {
    const events: { -readonly [key in keyof ArmEvents]: number } = { share, canary: 0, stable: 0 };
    let first: number | undefined;
    for (let second = 0; second < canaryBad.length; second += 1) {
      events.stable += stableBad[second] as number;
      const bad = canaryBad[second] as number;
      if (bad === 0) continue;
      events.canary += bad;
      first ??= second;
      if (second - first < spanSeconds) continue;
      if (logExcess([events], 1) >= limit) return second + 1;
    }
    return undefined;
  };
}

export function ruleOf(rival: Rival): Rule {
  const { intervalSeconds } = rival;
  return ({ canary, canaryBad, stable, stableBad }) => {
    const look = rival.start();
    for (let end = intervalSeconds; end <= canary.length; end += intervalSeconds) {
      const of = (column: Int32Array) => sum(column.subarray(end - intervalSeconds, end));
      const interval = {
        canary: { requests: of(canary), bad: of(canaryBad) },
        stable: { requests: of(stable), bad: of(stableBad) },
      };
      if (look(interval, end + intervalSeconds > canary.length)) return end;
    }
    return undefined;
  };
}

function sum(values: Int32Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** Requests that failed at the canary in the first `seconds`. */
export const failedBy = ({ canaryBad }: Recorded, seconds: number) => sum(canaryBad.subarray(0, seconds));
