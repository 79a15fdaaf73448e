import { mulberry32 } from '@shop/kit/mulberry32.ts';
import { percentile } from '../../../cli/src/shared/statistics.ts';
import { failedBy, type Recorded, type Rule, record, ruleOf, testE } from './fixed-share.ts';
import { kayentaLike } from './kayenta.ts';
import { argoLike, flaggerLike } from './rivals.ts';
import { change, percent, runsOf, type Scale, type Table, within } from './table.ts';

const ALPHA = 0.008;
const rules: readonly { readonly title: string; readonly rule: Rule }[] = [
  ...[argoLike, flaggerLike, kayentaLike].map((rival) => ({ title: rival.name, rule: ruleOf(rival) })),
  { title: 'test E at 0.8 %', rule: testE({ alpha: ALPHA, spanSeconds: 2 }) },
];

const cases = [
  { share: 0.01, stable: 0.005, canary: 0.005 },
  { share: 0.01, stable: 0.02, canary: 0.02 },
  { share: 0.05, stable: 0.02, canary: 0.02 },
  { share: 0.01, stable: 0, canary: 0.05 },
  { share: 0.05, stable: 0, canary: 0.01 },
  { share: 0.05, stable: 0, canary: 0.02 },
  { share: 0.05, stable: 0.005, canary: 0.02 },
  { share: 0.05, stable: 0, canary: 1 },
  { share: 0.01, stable: 0.005, canary: 0.02 },
] as const;

const RUNS = 400;

/** One share for ten minutes: how often and when each rule rolls back. */
export function rulesTable(scale: Scale): Table {
  const runs = runsOf(scale, RUNS);
  const measured = cases.map(({ share, ...rates }, index) => {
    const random = mulberry32(scale.seed + index);
    const traffic = { share, ratePerSecond: 50, seconds: 600, ratesAt: () => rates };
    const recorded = Array.from({ length: runs }, () => record(traffic, random));
    return { share, ...rates, byRule: rules.map(({ rule }) => summarize(recorded, rule)) };
  });
  return {
    title: 'Rules beside each other',
    note:
      `Rolled back within 600 s at 50 requests a second; the median time, and the requests that failed at the canary by then. ${runs} runs ` +
      'a row, the same for all rules.',
    header: ['share', 'error rate', ...rules.map(({ title }) => title)],
    rows: measured.map(({ share, stable, canary, byRule }) => [
      percent(share),
      `${change(stable, canary)}${stable === canary ? ' (good)' : ''}`,
      ...byRule.map(write),
    ]),
    promises: measured.map(({ share, stable, canary, byRule }) => {
      const what = `test E at a share of ${percent(share)}, ${change(stable, canary)}`;
      const value = byRule.at(-1)?.rolledBack ?? Number.NaN;
      if (stable === canary) return { what, value, most: within(ALPHA, runs) };
      // Of these, 1 % of the requests is too few to find 0.5 to 2 %; the page says so.
      return { what, value, least: share === 0.01 && stable > 0 ? 0 : 0.9 };
    }),
  };
}

interface Summary {
  readonly rolledBack: number;
  readonly seconds: number | undefined;
  readonly failed: number | undefined;
}

function summarize(all: readonly Recorded[], rule: Rule): Summary {
  const ends = all.flatMap((recorded) => {
    const seconds = rule(recorded);
    return seconds === undefined ? [] : [{ seconds, failed: failedBy(recorded, seconds) }];
  });
  return {
    rolledBack: ends.length / all.length,
    seconds: percentile(
      ends.map(({ seconds }) => seconds),
      0.5,
    ),
    failed: percentile(
      ends.map(({ failed }) => failed),
      0.5,
    ),
  };
}

function write({ rolledBack, seconds, failed }: Summary): string {
  if (seconds === undefined || rolledBack < 0.1) return percent(rolledBack);
  return `${percent(rolledBack)}, ${seconds} s, ${failed}`;
}
