import { type Verdict, worst } from '../shared/verdict.ts';
import type { MatrixMetrics, Times } from './metrics.ts';

/** A number that the alerts have to reach. */
export interface Goal {
  readonly name: string;
  readonly wanted: string;
  readonly observed: string;
  readonly verdict: Verdict;
}

/** Numbers that the set of alerts has to reach; times in s. */
const GOALS = {
  recall: 0.97,
  precision: 0.97,
  detectionP95: 30,
  outageDetectionP95: 12,
  clearP95: 40,
  unknownShare: 0.03,
} as const;

/** What was not measured at all holds no goal back; whether enough was measured is a goal itself. Pure. */
export function findGoals(metrics: MatrixMetrics): readonly Goal[] {
  const { recall, precision, detection, outageDetection, clear, unknownShare } = metrics;
  return [
    ...atLeast('recall', recall, GOALS.recall),
    ...atLeast('precision', precision, GOALS.precision),
    ...within('detection p95', detection, GOALS.detectionP95),
    ...within('detection p95 of outages', outageDetection, GOALS.outageDetectionP95),
    ...within('clear p95', clear, GOALS.clearP95),
    {
      name: 'unknown',
      wanted: `at most ${percent(GOALS.unknownShare)}`,
      observed: unknownShare === undefined ? 'nothing was measured' : percent(unknownShare),
      verdict: unknownShare === undefined || unknownShare > GOALS.unknownShare ? 'unknown' : 'pass',
    },
  ];
}

/** Pure. */
export function verdictOf(goals: readonly Goal[]): Verdict {
  return worst(goals.map(({ verdict }) => verdict));
}

function atLeast(name: string, value: number | undefined, least: number): readonly Goal[] {
  if (value === undefined) return [];
  const verdict = value >= least ? 'pass' : 'fail';
  return [{ name, wanted: `at least ${least}`, observed: floor(value, 3), verdict }];
}

function within(name: string, { count, p95 }: Times, most: number): readonly Goal[] {
  if (count === 0 || p95 === undefined) return [];
  return [{ name, wanted: `at most ${most} s`, observed: writeSeconds(p95), verdict: p95 <= most ? 'pass' : 'fail' }];
}

/** `12.3 s`; `not in time`. Pure. */
export function writeSeconds(seconds: number | undefined): string {
  if (seconds === undefined) return '-';
  return Number.isFinite(seconds) ? `${seconds.toFixed(1)} s` : 'not in time';
}

/** Rounded down: 0.9699 has not reached 0.97. */
function floor(value: number, digits: number): string {
  const factor = 10 ** digits;
  return String(Math.floor(Number((value * factor).toPrecision(12))) / factor);
}

function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10} %`;
}
