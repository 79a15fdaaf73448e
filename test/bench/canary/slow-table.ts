import { mulberry32 } from '@shop/kit/mulberry32.ts';
import type { SlowMoment } from '../../../cli/src/deploy/analysis/evidence.ts';
import { logExcess, logExcessWithoutBurst } from '../../../cli/src/deploy/analysis/excess.ts';
import { drawBinomial, drawPoisson, type Random } from '../../../cli/src/deploy/analysis/random.ts';
import { percentile } from '../../../cli/src/shared/statistics.ts';
import { isHigher } from './kayenta.ts';
import { percent, runsOf, type Scale, type Table, within } from './table.ts';

const ALPHA = 0.002;
const TOLERATE = 1.25;
const SECONDS = 300;
const RATE = 50;
const RUNS = 200;
const RUNS_OF_GOOD = 1_000;
/** Responses are log-normal. */
const SIGMA = 0.5;
/** 90 % of the standard normal distribution are below. */
const Z90 = 1.2815515655446004;
const WARM_UP = 50;
const POINT_SECONDS = 10;
/** One bad moment of an instance is shorter, ms. */
const BURST_MS = 2_000;

const cases = [
  { share: 0.05, factor: 1, isShaky: false },
  { share: 0.05, factor: 1, isShaky: true },
  { share: 0.05, factor: 1.25, isShaky: false },
  { share: 0.05, factor: 1.25, isShaky: true },
  { share: 0.05, factor: 1.5, isShaky: false },
  { share: 0.05, factor: 1.5, isShaky: true },
  { share: 0.05, factor: 2, isShaky: false },
  { share: 0.01, factor: 1, isShaky: false },
  { share: 0.01, factor: 1.5, isShaky: false },
  { share: 0.01, factor: 2, isShaky: false },
] as const;

type Case = (typeof cases)[number];

/** How soon slower responses are found. */
export function slowTable(scale: Scale): Table {
  const measured = cases.map((one, index) => {
    const random = mulberry32(scale.seed + index);
    const runs = runsOf(scale, one.factor === 1 ? RUNS_OF_GOOD : RUNS);
    const found: number[] = [];
    let kayenta = 0;
    for (let run = 0; run < runs; run += 1) {
      const { seconds, isByKayenta } = rollout(one, random);
      if (seconds !== undefined) found.push(seconds);
      if (isByKayenta) kayenta += 1;
    }
    return {
      ...one,
      runs,
      value: found.length / runs,
      median: percentile(found, 0.5),
      kayenta: kayenta / runs,
    };
  });
  return {
    title: 'Slowness',
    note:
      `Found within ${SECONDS} s at ${RATE} requests a second, of which the first ${WARM_UP} of the canary do not count. Responses are ` +
      'log-normal (sigma 0.5); "swings" has those of both arms swing by a half. Test S: alpha 0.2 %, slower than 90 %, 1.25 times as many ' +
      `are tolerated. Kayenta-like: the 95th percentiles of 10 s each, at the end. ${runsOf(scale, RUNS)} runs a row, ${runsOf(scale, RUNS_OF_GOOD)} where the canary is as fast.`,
    header: ['share', 'response times', 'test S', 'median', 'Kayenta-like'],
    rows: measured.map(({ share, factor, isShaky, value, median, kayenta }) => [
      percent(share),
      `${factor === 1 ? 'as fast' : `x ${factor}`}${isShaky ? ', swings' : ''}`,
      percent(value),
      median === undefined || factor === 1 ? '-' : `${median} s`,
      percent(kayenta),
    ]),
    promises: measured.flatMap((one) => {
      const { share, factor, isShaky, value, runs } = one;
      const what = `test S at a share of ${percent(share)}, x ${factor}${isShaky ? ', swings' : ''}`;
      if (factor === 1) return { what, value, most: within(ALPHA, runs) };
      const least = leastFound(one);
      return least === undefined ? [] : { what, value, least };
    }),
  };
}

/** What is promised to be found. Near what is tolerated most need more time while response times swing: that is stated, and not promised. */
function leastFound({ share, factor, isShaky }: Case): number | undefined {
  if (factor > 1.25 && share > 0.01) return 0.9;
  if (factor >= 2) return 0.5;
  return isShaky ? undefined : 0.25;
}

/** One of them: requests are drawn one by one, since the other rule needs their times. */
function rollout({ share, factor, isShaky }: Case, random: Random) {
  const limit = -Math.log(ALPHA);
  const moments: SlowMoment[] = [];
  const all = { share, canary: 0, stable: 0 };
  const points: { canary: number[]; stable: number[] } = { canary: [], stable: [] };
  let times: { canary: number[]; stable: number[] } = { canary: [], stable: [] };
  let [canaryRequests, seconds] = [0, undefined as number | undefined];
  for (let second = 1; second <= SECONDS; second += 1) {
    const swing = isShaky ? Math.log(1 + 0.5 * Math.sin((2 * Math.PI * second) / 60)) : 0;
    const isTimed = canaryRequests >= WARM_UP;
    const requests = drawPoisson(random, RATE);
    const ofCanary = drawBinomial(random, requests, share);
    canaryRequests += ofCanary;
    const events = { canary: 0, stable: 0 };
    for (let request = 0; request < requests; request += 1) {
      const arm = request < ofCanary ? 'canary' : 'stable';
      const log = SIGMA * normal(random) + swing + (arm === 'canary' ? Math.log(factor) : 0);
      times[arm].push(log);
      if (!isTimed || log <= SIGMA * Z90) continue;
      events[arm] += 1;
      all[arm] += 1;
    }
    moments.push({ at: second * 1_000, share, ...events });
    const isReached = logExcess([all], TOLERATE) >= limit;
    if (seconds === undefined && isReached && logExcessWithoutBurst(moments, TOLERATE, BURST_MS) >= limit)
      seconds = second;
    if (second % POINT_SECONDS !== 0) continue;
    for (const arm of ['canary', 'stable'] as const) {
      const point = percentile(times[arm], 0.95);
      if (point !== undefined) points[arm].push(Math.exp(point));
    }
    times = { canary: [], stable: [] };
  }
  return { seconds, isByKayenta: isHigher(points.canary, points.stable) };
}

/** Standard normal. Source: G. Box, M. Muller, 1958. */
const normal = (random: Random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
