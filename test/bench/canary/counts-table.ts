import { requestsToShow } from '../../../cli/src/deploy/analysis/binomial.ts';
import { logExcess } from '../../../cli/src/deploy/analysis/excess.ts';
import { percent, type Table } from './table.ts';

const ALPHA = 0.008;

/** What needs no simulation. */
export function requestsTable(): Table {
  const rates = [0.05, 0.02, 0.01, 0.005];
  return {
    title: 'Requests without a failure',
    note: 'Requests of the canary that show an error rate of less at 95 % confidence, by the exact one-sided binomial bound.',
    header: ['error rate below', 'no failure', 'one failure', 'two failures'],
    rows: rates.map((rate) => [percent(rate), ...[0, 1, 2].map((bad) => String(requestsToShow(rate, { bad })))]),
    promises: rates.map((rate, index) => {
      const requests = [59, 149, 299, 598][index] ?? Number.NaN;
      return { what: `requests for ${percent(rate)}`, value: requestsToShow(rate), least: requests, most: requests };
    }),
  };
}

/** The fewest failures at the canary, none at stable, with which test E can roll back: by the canary's share. */
export function failuresTable(): Table {
  const shares = [0.01, 0.05, 0.25, 0.5, 0.95];
  const fewest = shares.map((share) => {
    let canary = 1;
    while (logExcess([{ share, canary, stable: 0 }], 1) < -Math.log(ALPHA)) canary += 1;
    return canary;
  });
  return {
    title: 'The fewest failures',
    note: 'Failed requests of the canary with which test E can roll back, while stable has none. 95 %: the previous version is kept, with the rest.',
    header: ['share of the canary', 'failures'],
    rows: shares.map((share, index) => [percent(share), String(fewest[index])]),
    promises: [{ what: 'failures at a share of 95 %', value: fewest.at(-1) ?? Number.NaN, most: 106 }],
  };
}
