import { mulberry32 } from '@shop/kit/mulberry32.ts';
import { record, testE } from './fixed-share.ts';
import { percent, runsOf, type Scale, type Table, within } from './table.ts';

const ALPHA = 0.008;
const SHARES = [0.01, 0.05, 0.25, 0.5];
const RATES = [0.001, 0.005, 0.02, 0.1];
const RUNS = 4_000;

/** How often test E rolls back a release that is as good as the stable one. */
export function sizeTable(scale: Scale): Table {
  const runs = runsOf(scale, RUNS);
  // Without the least span, which makes it smaller still.
  const rule = testE({ alpha: ALPHA, spanSeconds: 0 });
  const cells = SHARES.map((share) =>
    RATES.map((rate, index) => {
      const random = mulberry32(scale.seed + index + 100 * share);
      const traffic = { share, ratePerSecond: 50, seconds: 600, ratesAt: () => ({ canary: rate, stable: rate }) };
      let back = 0;
      for (let run = 0; run < runs; run += 1) if (rule(record(traffic, random)) !== undefined) back += 1;
      return { share, rate, value: back / runs };
    }),
  );
  return {
    title: 'Size of test E',
    note:
      `Good releases that are rolled back within 600 s at 50 requests a second, by the share of the canary and the error rate of both ` +
      `arms; promised: at most ${percent(ALPHA)}. Without the least span of failures. ${runs} runs a cell.`,
    header: ['share', ...RATES.map(percent)],
    rows: cells.map((row, index) => [
      percent(SHARES[index] ?? 0),
      ...row.map(({ value }) => `${(value * 100).toFixed(2)} %`),
    ]),
    promises: cells.flat().map(({ share, rate, value }) => ({
      what: `size of test E at a share of ${percent(share)} and errors of ${percent(rate)}`,
      value,
      most: within(ALPHA, runs),
    })),
  };
}
