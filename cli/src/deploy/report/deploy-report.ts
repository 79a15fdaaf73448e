import type { Verdict as Evaluated } from '../analysis/evaluate.ts';
import { type Arm, type Evidence, noCounts } from '../analysis/evidence.ts';
import type { GuardReading } from '../analysis/guards.ts';
import { describeReason } from '../analysis/reasons.ts';
import { type DeployRun, type DeployState, isOver, type JournalRecord, runsIn } from '../run.ts';
import type { Sample } from '../samples.ts';

/** What happened, in ms since the deploy began. */
export interface ReportEvent {
  readonly ms: number;
  readonly kind: 'state' | 'step' | 'weights' | 'verdict' | 'operator';
  readonly text: string;
}

/** The evidence after a sample, as logarithms to the base of 10. */
export interface EvidencePoint {
  readonly ms: number;
  readonly errors: number;
  readonly slow: number;
  readonly promotion: number;
}

/** Outcomes of one version. */
export interface ArmTotals {
  readonly arm: Arm;
  readonly version: string;
  readonly requests: number;
  readonly bad: number;
  /** Of the good ones whose time counts: slower than the limit. */
  readonly slow: number;
  readonly timed: number;
}

/** Outcomes of both versions within a few seconds; undefined where one had no requests. */
export interface RatePoint {
  readonly ms: number;
  readonly canary: number | undefined;
  readonly stable: number | undefined;
}

/** A deploy as its journal and its samples have it. */
export interface DeployReport {
  readonly run: DeployRun;
  readonly durationMs: number;
  readonly events: readonly ReportEvent[];
  readonly states: readonly { readonly state: DeployState; readonly fromMs: number; readonly toMs: number }[];
  /** Of a canary: its share of the calls. */
  readonly shares: readonly { readonly ms: number; readonly share: number }[];
  readonly evidence: readonly EvidencePoint[];
  readonly rates: readonly RatePoint[];
  readonly arms: readonly ArmTotals[];
  /** The last reading of each guard. */
  readonly guards: readonly GuardReading[];
  /** The last verdict. */
  readonly evaluated: Evaluated | undefined;
}

/** Requests of so many parts of the deploy make one point of error rates. */
const RATE_POINTS = 60;
const LEAST_BUCKET_MS = 2_000;

/** The report on one deploy. Throws RangeError for records that have no beginning of it. Pure. */
export function deployReport(all: readonly JournalRecord[], id: string, samples: readonly Sample[]): DeployReport {
  const records = all.filter((record) => record.run === id);
  const [run] = runsIn(records);
  if (run === undefined) throw new RangeError(`no records of the deploy ${id}`);
  const began = Date.parse(run.startedAt);
  const since = (time: string | number) => (typeof time === 'number' ? time : Date.parse(time)) - began;
  const durationMs = Math.max(since(run.changedAt), ...samples.slice(-1).map(({ at }) => since(at)), 1);
  const weights = records.filter((record) => record.kind === 'weights');
  const evidence = samples.flatMap((sample) => sample.evidence);
  return {
    run,
    durationMs,
    events: records.flatMap((record) => eventOf(record, since(record.time))),
    states: statesOf(records, since, durationMs),
    shares: sharesOf(weights, run, since),
    evidence: samples.map(({ at, tests }) => ({ ms: since(at), ...logTen(tests) })),
    rates: ratesOf(evidence, since, durationMs),
    arms: evidence.length === 0 ? [] : (['stable', 'canary'] as const).map((arm) => totalsOf(arm, run, evidence)),
    guards: [...new Map(samples.flatMap(({ guards }) => guards).map((reading) => [reading.guard, reading])).values()],
    evaluated: run.verdicts?.at(-1)?.verdict,
  };
}

const logTen = ({ errors, slow, promotion }: Sample['tests']) => ({
  errors: errors / Math.LN10,
  slow: slow / Math.LN10,
  promotion: promotion / Math.LN10,
});

function eventOf(record: JournalRecord, ms: number): ReportEvent[] {
  switch (record.kind) {
    case 'planned':
      return [{ ms, kind: 'state', text: `planned: ${record.source}, ${record.strategy}` }];
    case 'state': {
      const { state, cause } = record;
      return [{ ms, kind: 'state', text: cause === undefined ? state : `${state}: ${cause.text}` }];
    }
    case 'step':
      return [{ ms, kind: 'step', text: record.text }];
    case 'weights':
      return [{ ms, kind: 'weights', text: `${percent(record.share)} of the calls to the canary (${record.reason})` }];
    case 'verdict': {
      const { decision, reasons } = record.verdict;
      return [{ ms, kind: 'verdict', text: [`${decision}`, ...reasons.map(describeReason)].join(': ') }];
    }
    case 'paused':
    case 'resumed':
    case 'promoted':
      return [{ ms, kind: 'operator', text: record.kind }];
    default:
      return [];
  }
}

type Since = (time: string | number) => number;

function statesOf(records: readonly JournalRecord[], since: Since, durationMs: number): DeployReport['states'] {
  const begun = [
    ...records.filter(({ kind }) => kind === 'planned').map(({ time }) => ({ state: 'planned' as const, time })),
    ...records.filter((record) => record.kind === 'state'),
  ];
  return begun.flatMap(({ state, time }, index) => {
    const toMs = begun[index + 1] === undefined ? durationMs : since((begun[index + 1] as { time: string }).time);
    return isOver(state) ? [] : [{ state, fromMs: since(time), toMs }];
  });
}

/** 0 before the first weights, and 0 again when the calls go back. */
function sharesOf(
  weights: readonly Extract<JournalRecord, { kind: 'weights' }>[],
  run: DeployRun,
  since: Since,
): DeployReport['shares'] {
  if (weights.length === 0) return [];
  const points = weights.map(({ time, share }) => ({ ms: since(time), share }));
  const end = run.state === 'done' ? 1 : isOver(run.state) ? 0 : undefined;
  return [{ ms: 0, share: 0 }, ...points, ...(end === undefined ? [] : [{ ms: since(run.changedAt), share: end }])];
}

function totalsOf(arm: Arm, run: DeployRun, evidence: readonly Evidence[]): ArmTotals {
  const total = noCounts();
  for (const line of evidence) {
    if (line.arm !== arm || line.share <= 0 || line.share >= 1) continue;
    total.requests += line.requests;
    total.bad += line.bad;
    if (line.slow === null) continue;
    total.slow += line.slow;
    total.timed += line.requests - line.bad;
  }
  return { arm, version: arm === 'canary' ? run.to : run.from, ...total };
}

function ratesOf(evidence: readonly Evidence[], since: Since, durationMs: number): readonly RatePoint[] {
  const first = evidence[0];
  if (first === undefined) return [];
  const bucketMs = Math.max(LEAST_BUCKET_MS, durationMs / RATE_POINTS);
  const byBucket = Map.groupBy(evidence, ({ at }) => Math.floor(since(at) / bucketMs));
  const from = Math.floor(since(first.at) / bucketMs);
  const to = Math.max(...byBucket.keys());
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const lines = byBucket.get(from + index) ?? [];
    return {
      ms: (from + index) * bucketMs,
      canary: rateOf(lines.filter(({ arm }) => arm === 'canary')),
      stable: rateOf(lines.filter(({ arm }) => arm === 'stable')),
    };
  });
}

function rateOf(lines: readonly Evidence[]): number | undefined {
  const requests = lines.reduce((sum, line) => sum + line.requests, 0);
  return requests === 0 ? undefined : lines.reduce((sum, line) => sum + line.bad, 0) / requests;
}

export const percent = (share: number) => `${Number((share * 100).toPrecision(3))} %`;
