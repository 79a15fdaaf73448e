import { mulberry32 } from '@shop/kit/mulberry32.ts';
import type { Counts, ShareCounts } from '../../../cli/src/deploy/analysis/evidence.ts';
import { PROMOTION_EVIDENCE } from '../../../cli/src/deploy/analysis/plan.ts';
import { logWithinMargin } from '../../../cli/src/deploy/analysis/within-margin.ts';
import { type Recorded, record } from './fixed-share.ts';
import { change, type Promised, percent, runsOf, type Scale, type Table, within } from './table.ts';

const MARGIN = 0.01;
const SHARE = 0.5;
const SECONDS = 3_600;
/** Both rules look from then on, as after the last step. */
const LEAST_REQUESTS = 600;
const RUNS = 1_000;

const outageAt = (second: number) => second >= 30 && second < 60;

const cases = [
  { title: 'exactly the margin', stable: 0.01, canary: 0.02, hasOutage: false },
  { title: 'exactly the margin', stable: 0, canary: 0.01, hasOutage: false },
  { title: 'exactly the margin, both arms down for 30 s', stable: 0.01, canary: 0.02, hasOutage: true },
  { title: 'twice the margin', stable: 0.01, canary: 0.03, hasOutage: false },
  { title: 'as good', stable: 0.01, canary: 0.01, hasOutage: false },
] as const;

/** Whether a canary whose excess is the margin is ever promoted within an hour, by test P and by a bound at each moment. */
export function marginTable(scale: Scale): Table {
  const runs = runsOf(scale, RUNS);
  const measured = cases.map((one, index) => {
    const random = mulberry32(scale.seed + index);
    const rates = (second: number) => (one.hasOutage && outageAt(second) ? { canary: 1, stable: 1 } : one);
    const traffic = { share: SHARE, ratePerSecond: 50, seconds: SECONDS, ratesAt: rates };
    const promoted = { p: 0, newcombe: 0 };
    for (let run = 0; run < runs; run += 1) {
      const recorded = record(traffic, random);
      if (isEver(recorded, isShownByTestP)) promoted.p += 1;
      if (isEver(recorded, isShownByNewcombe)) promoted.newcombe += 1;
    }
    return { ...one, p: promoted.p / runs, newcombe: promoted.newcombe / runs };
  });
  return {
    title: 'Promotion at the margin',
    note:
      `Ever promoted within an hour at 50 requests a second and a share of ${percent(SHARE)}, by canary and stable alone: no test rolls ` +
      `back. A look each second from ${LEAST_REQUESTS} requests on. The margin is ${percent(MARGIN)}; promised of test P: at most ` +
      `${percent(1 / PROMOTION_EVIDENCE)}. ${runs} runs a row.`,
    header: ['canary', 'error rate', 'test P', "Newcombe's 95 % bound at each moment"],
    rows: measured.map(({ title, stable, canary, p, newcombe }) => [
      title,
      change(stable, canary),
      percent(p),
      percent(newcombe),
    ]),
    promises: measured.map(({ title, stable, canary, p }): Promised => {
      const what = `test P promotes at ${change(stable, canary)} (${title})`;
      if (canary === stable) return { what, value: p, least: 0.9 };
      return { what, value: p, most: within(1 / PROMOTION_EVIDENCE, runs) };
    }),
  };
}

type IsShown = (row: ShareCounts) => boolean;

function isEver({ share, canary, canaryBad, stable, stableBad }: Recorded, isShown: IsShown): boolean {
  const noCounts = (): Counts => ({ requests: 0, bad: 0, slow: 0, timed: 0 });
  const row = { share, canary: noCounts(), stable: noCounts() };
  for (let second = 0; second < canary.length; second += 1) {
    row.canary.requests += canary[second] as number;
    row.canary.bad += canaryBad[second] as number;
    row.stable.requests += stable[second] as number;
    row.stable.bad += stableBad[second] as number;
    if (row.canary.requests >= LEAST_REQUESTS && isShown(row)) return true;
  }
  return false;
}

const isShownByTestP: IsShown = (row) => logWithinMargin([row], MARGIN) >= Math.log(PROMOTION_EVIDENCE);

const Z = 1.6448536269514722;

/** Upper end of the one-sided interval of a difference. Source: R. Newcombe, Statistics in Medicine 17, 1998, method 10. */
const isShownByNewcombe: IsShown = ({ canary, stable }) => {
  const [a, b] = [wilson(canary), wilson(stable)];
  const difference = a.rate - b.rate;
  return difference + Math.hypot(a.high - a.rate, b.rate - b.low) <= MARGIN;
};

function wilson({ requests, bad }: Counts): { readonly rate: number; readonly low: number; readonly high: number } {
  const rate = bad / requests;
  const middle = rate + Z ** 2 / (2 * requests);
  const half = Z * Math.sqrt((rate * (1 - rate)) / requests + Z ** 2 / (4 * requests ** 2));
  const scale = 1 + Z ** 2 / requests;
  return { rate, low: Math.max(0, (middle - half) / scale), high: Math.min(1, (middle + half) / scale) };
}
