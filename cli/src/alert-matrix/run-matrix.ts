import { messageOf } from '../errors.ts';
import type { PairRecord } from './journal.ts';
import { type Pair, pairName } from './pair.ts';
import type { Place } from './place.ts';

/** What a run of the matrix is given. */
export interface MatrixPorts {
  /** How many platforms work side by side. */
  readonly platforms: number;
  /** Starts the platform of a number. Rejects when it does not start. */
  open(number: number): Promise<Place>;
  onRecord(record: PairRecord): Promise<void>;
  onTrouble(number: number, problem: string): void;
  readonly signal: AbortSignal;
}

/** So many platforms that fail one after the other are no accident: the rest would fail like them. */
const FAILURES = 3;

/**
 * Measures pairs on several platforms concurrently, each on one at a time, in their order. Invariants: M1: each pair is measured once
 * at most; one that could not be has no record. M2: a platform that a pair has left changed is replaced. M3: every platform that was
 * opened is closed. Rejects with the first error when all platforms have ended.
 */
export async function runMatrix(pairs: readonly Pair[], ports: MatrixPorts): Promise<void> {
  const waiting = [...pairs];
  const shared: Shared = {
    next: () => waiting.shift(),
    giveBack: (pair) => void waiting.push(pair),
    failures: 0,
    isOver: false,
  };
  const count = Math.min(ports.platforms, pairs.length);
  const ends = await Promise.allSettled(Array.from({ length: count }, (_, index) => work(index + 1, shared, ports)));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

interface Shared {
  next(): Pair | undefined;
  giveBack(pair: Pair): void;
  failures: number;
  isOver: boolean;
}

/** Works until nothing waits, or until another one has failed for good. */
async function work(number: number, shared: Shared, ports: MatrixPorts): Promise<void> {
  let place: Place | undefined;
  try {
    for (let pair = shared.next(); pair !== undefined && !shared.isOver; pair = shared.next()) {
      try {
        place ??= await ports.open(number);
        const record = await place.measure(pair);
        shared.failures = 0;
        await ports.onRecord(record);
        if (mayGoOn(record)) continue;
      } catch (error) {
        // A platform that did not start is not the pair's doing: another one may have it.
        if (place === undefined) shared.giveBack(pair);
        if (ports.signal.aborted || ++shared.failures >= FAILURES) throw error;
        ports.onTrouble(number, `${pairName(pair)} was not measured: ${messageOf(error)}`);
      }
      await place?.close();
      place = undefined;
    }
  } catch (error) {
    shared.isOver = true;
    throw error;
  } finally {
    await place?.close();
  }
}

/** Effects of a pair must not be found under the next one. Alerts of slow burn rates end with the samples. Pure. */
export function mayGoOn({ pair, problems, notReverted, firings, shipments }: PairRecord): boolean {
  const isOver = firings.every(
    ({ severity, burn, resolvedMs }) => resolvedMs !== undefined || severity !== 'page' || burn !== undefined,
  );
  const isShipped = shipments !== undefined && shipments.missing === 0;
  return !pair.lastsLonger && problems.length === 0 && notReverted.length === 0 && isOver && isShipped;
}
