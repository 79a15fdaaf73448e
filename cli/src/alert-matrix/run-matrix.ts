import { type PlatformsPorts, runOnPlatforms } from '../experiments/run/run-on-platforms.ts';
import type { PairRecord } from './journal.ts';
import { type Pair, pairName } from './pair.ts';

/** What a run of the matrix is given. */
export type MatrixPorts = Omit<PlatformsPorts<Pair, PairRecord>, 'mayGoOn' | 'nameOf'>;

/** Measures the pairs; see runOnPlatforms. */
export function runMatrix(pairs: readonly Pair[], ports: MatrixPorts): Promise<void> {
  return runOnPlatforms(pairs, { ...ports, mayGoOn, nameOf: pairName });
}

/** Effects of a pair must not be found under the next one. Alerts of slow burn rates end with the samples. Pure. */
export function mayGoOn({ pair, problems, notReverted, firings, shipments }: PairRecord): boolean {
  const isOver = firings.every(
    ({ severity, burn, resolvedMs }) => resolvedMs !== undefined || severity !== 'page' || burn !== undefined,
  );
  const isShipped = shipments !== undefined && shipments.missing === 0;
  return !pair.lastsLonger && problems.length === 0 && notReverted.length === 0 && isOver && isShipped;
}
