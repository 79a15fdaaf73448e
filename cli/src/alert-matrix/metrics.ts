import { percentile } from '../shared/statistics.ts';
import type { PairResult } from './result.ts';

/** Percentiles of times, s. Infinity: it did not come in time. Undefined: nothing was measured. */
export interface Times {
  readonly count: number;
  readonly p50: number | undefined;
  readonly p95: number | undefined;
  readonly max: number | undefined;
}

export interface MatrixMetrics {
  /** Share of the faults that hit customers which had a page that belongs to them. */
  readonly recall: number | undefined;
  readonly hitPairs: number;
  readonly detectedPairs: number;
  /** Pages that belong to a fault that hit customers, of all pages. */
  readonly precision: number | undefined;
  readonly pages: number;
  readonly truePages: number;
  readonly missed: number;
  readonly detection: Times;
  /** Of those under which nearly all orders failed. */
  readonly outageDetection: Times;
  /** Pages whose windows are short. */
  readonly clear: Times;
  /** Slow burn rates, and lost shipments, which are counted over two minutes. */
  readonly slowClear: Times;
  /** Of these, how many ended while the matrix looked. */
  readonly slowCleared: number;
  readonly measured: number;
  readonly planned: number;
  readonly unknownShare: number | undefined;
}

/** What the set of alerts is worth, by the pairs that are known. Pure. */
export function measure(pairs: readonly PairResult[], planned: number): MatrixMetrics {
  const known = pairs.filter(({ verdict }) => verdict === 'pass' || verdict === 'fail');
  const hit = known.filter(({ isHit }) => isHit === true);
  const detected = hit.filter(({ detectedS }) => detectedS !== undefined);
  const pages = known
    .flatMap(({ cells }) => cells)
    .filter(({ severity, firedS }) => severity === 'page' && firedS !== undefined);
  const truePages = pages.filter(({ verdict }) => verdict === 'hit');
  const unknown = pairs.length - known.length;
  const secondsOf = (some: readonly PairResult[]) => some.map(({ detectedS }) => detectedS ?? Number.POSITIVE_INFINITY);
  return {
    recall: ratio(detected.length, hit.length),
    hitPairs: hit.length,
    detectedPairs: detected.length,
    precision: ratio(truePages.length, pages.length),
    pages: pages.length,
    truePages: truePages.length,
    missed: known.flatMap(({ cells }) => cells).filter(({ verdict }) => verdict === 'missed').length,
    detection: timesIn(secondsOf(hit)),
    outageDetection: timesIn(secondsOf(hit.filter(({ isOutage }) => isOutage))),
    clear: timesIn(clearsIn(known, false)),
    slowClear: timesIn(clearsIn(known, true)),
    slowCleared: clearsIn(known, true).filter(Number.isFinite).length,
    measured: pairs.length,
    planned,
    unknownShare: ratio(unknown, pairs.length),
  };
}

function clearsIn(pairs: readonly PairResult[], areSlow: boolean): readonly number[] {
  return pairs.flatMap(({ clears }) => clears.filter(({ isSlow }) => isSlow === areSlow).map(({ afterS }) => afterS));
}

function ratio(part: number, all: number): number | undefined {
  return all === 0 ? undefined : part / all;
}

function timesIn(values: readonly number[]): Times {
  const of = (share: number) => percentile(values, share);
  return { count: values.length, p50: of(0.5), p95: of(0.95), max: of(1) };
}
