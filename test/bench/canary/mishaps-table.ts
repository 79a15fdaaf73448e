import { mulberry32 } from '@shop/kit/mulberry32.ts';
import type { Random } from '../../../cli/src/deploy/analysis/random.ts';
import { type Rates, type Recorded, type Rule, record, ruleOf, testE } from './fixed-share.ts';
import { kayentaLike } from './kayenta.ts';
import { argoLike, flaggerLike } from './rivals.ts';
import { type Promised, percent, runsOf, type Scale, type Table, within } from './table.ts';

const ALPHA = 0.008;
const SHARE = 0.05;
const SECONDS = 600;
const RATE = 50;
const RUNS = 2_000;

interface Mishap {
  readonly title: string;
  /** Error rates of each second of one run. */
  draw(random: Random): (second: number) => Rates;
  /** What a collector that counts otherwise makes of what happened. */
  recount?(recorded: Recorded): Recorded;
  /** The canary is as good as stable and everything is counted once, so that the size holds. */
  readonly isGood: boolean;
}

const both = (rate: number): Rates => ({ canary: rate, stable: rate });
const BASE = 0.001;

/** `count` seconds, each at any time, independently. */
function someSeconds(random: Random, count: number): ReadonlySet<number> {
  return new Set(Array.from({ length: count }, () => Math.floor(random() * SECONDS)));
}

/** One a `seconds` on average. */
function rareSeconds(random: Random, seconds: number): ReadonlySet<number> {
  return new Set(Array.from({ length: SECONDS }, (_, second) => second).filter(() => random() < 1 / seconds));
}

function withBlips(seconds: ReadonlySet<number>, stable: number): (second: number) => Rates {
  return (second) => ({ canary: seconds.has(second) ? 1 : stable, stable });
}

const POISON = 0.002;

/** As if a failed request that was repeated at the other arm were a request there. */
function withRepeats(recorded: Recorded): Recorded {
  const all = recorded.canaryBad.map((bad, second) => bad + (recorded.stableBad[second] as number));
  return { ...recorded, canaryBad: all, stableBad: all };
}

/** As if each failure were four: a client that repeats its key three times, at the same arm. */
function fourTimes(recorded: Recorded): Recorded {
  const times = (column: Int32Array) => column.map((bad) => bad * 4);
  return { ...recorded, canaryBad: times(recorded.canaryBad), stableBad: times(recorded.stableBad) };
}

const mishaps: readonly Mishap[] = [
  {
    title: 'the canary has a bad second once an hour, nothing else fails',
    draw: (random) => withBlips(rareSeconds(random, 3_600), 0),
    isGood: false,
  },
  {
    title: 'the canary has a bad second once an hour',
    draw: (random) => withBlips(rareSeconds(random, 3_600), BASE),
    isGood: false,
  },
  {
    title: '20 outages of one second that both arms share',
    draw(random) {
      const outages = someSeconds(random, 20);
      return (second) => both(outages.has(second) ? 1 : BASE);
    },
    isGood: true,
  },
  {
    title: 'the same, and the canary takes a second longer to come back from each',
    draw(random) {
      const outages = someSeconds(random, 20);
      return (second) => ({
        canary: outages.has(second) || outages.has(second - 1) ? 1 : BASE,
        stable: outages.has(second) ? 1 : BASE,
      });
    },
    isGood: false,
  },
  {
    title: 'load and errors of both arms swing between 0 and 4 %',
    draw: () => (second) => both(0.02 + 0.02 * Math.sin((2 * Math.PI * second) / 60)),
    isGood: true,
  },
  { title: '0.2 % of orders fail anywhere, counted once', draw: () => () => both(POISON), isGood: true },
  {
    title: 'the same, each failure repeated three times and counted each time',
    draw: () => () => both(POISON),
    recount: fourTimes,
    isGood: false,
  },
  {
    title: 'the same, repeated at the other arm and counted there too',
    draw: () => () => both(POISON),
    recount: withRepeats,
    isGood: false,
  },
];

const rules: readonly { readonly title: string; readonly rule: Rule }[] = [
  { title: 'Argo-like', rule: ruleOf(argoLike) },
  { title: 'Flagger-like', rule: ruleOf(flaggerLike) },
  { title: 'Kayenta-like', rule: ruleOf(kayentaLike) },
  { title: 'test E without a least span', rule: testE({ alpha: ALPHA, spanSeconds: 0 }) },
  { title: 'test E', rule: testE({ alpha: ALPHA, spanSeconds: 2 }) },
];

/** What is not the release's fault, and what counting wrongly makes of it. */
export function mishapsTable(scale: Scale): Table {
  const runs = runsOf(scale, RUNS);
  const measured = mishaps.map((mishap, index) => {
    const random = mulberry32(scale.seed + index);
    const back = rules.map(() => 0);
    for (let run = 0; run < runs; run += 1) {
      const ratesAt = mishap.draw(random);
      const recorded = record({ share: SHARE, ratePerSecond: RATE, seconds: SECONDS, ratesAt }, random);
      const counted = mishap.recount?.(recorded) ?? recorded;
      for (const [rule, { rule: decide }] of rules.entries()) {
        if (decide(counted) !== undefined) back[rule] = (back[rule] ?? 0) + 1;
      }
    }
    return { ...mishap, values: back.map((count) => count / runs) };
  });
  return {
    title: 'What is not the fault of the release',
    note: `Good releases that are rolled back within 600 s at 50 requests a second and a share of ${percent(SHARE)}, errors of ${percent(BASE)} otherwise. ${runs} runs a row.`,
    header: ['what happens', ...rules.map(({ title }) => title)],
    rows: measured.map(({ title, values }) => [title, ...values.map(percent)]),
    promises: measured
      .filter(({ isGood }) => isGood)
      .map(
        ({ title, values }): Promised => ({
          what: `test E: ${title}`,
          value: values.at(-1) ?? Number.NaN,
          most: within(ALPHA, runs),
        }),
      ),
  };
}
