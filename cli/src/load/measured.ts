import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import type { Phase } from '../../../scenarios/lib/scenarios.ts';
import { percentile } from '../shared/statistics.ts';

/** How long responses took, ms; null without responses. */
export interface Latency {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly max: number | null;
}

/** What was measured of some requests. */
export interface Measured {
  readonly sent: number;
  readonly responded: number;
  /** Responses as a healthy system gives them. */
  readonly expected: number;
  /** Responses a second, over the time in which requests were sent. */
  readonly perSecond: number;
  readonly latencyMs: Latency;
  /** Requests by what became of them: `201 Confirmed`, `200 Cancelled: payment declined`, `503 overloaded`, `timeout`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Of those, the ones that a healthy system does not give, by the code of the problem, the reason, or the transport's. */
  readonly errors: Readonly<Record<string, number>>;
}

export interface MeasuredPhase extends Measured {
  readonly name: string;
  readonly durationS: number;
  /** Orders a second that should be started; null when users wait for their responses. */
  readonly offeredPerSecond: number | null;
  /** Iterations that were due; where users wait for their responses those that are known to have begun. */
  readonly due: number;
  /** Of those, the ones that were not started, or have no record of all their requests: they threw, or were cut off. */
  readonly missing: number;
}

/** Sums requests up. `seconds` is the time in which they were sent. */
export function measure(records: readonly OrderRecord[], seconds: number): Measured {
  const responded = records.filter(({ http }) => http !== 0);
  const times = records.map(({ tookMs }) => tookMs);
  const at = (share: number) => percentile(times, share) ?? null;
  return {
    sent: records.length,
    responded: responded.length,
    expected: records.filter(({ expected }) => expected).length,
    perSecond: seconds > 0 ? Math.round((responded.length / seconds) * 10) / 10 : 0,
    latencyMs: { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) },
    outcomes: countBy(records, describeOutcome),
    errors: countBy(
      records.filter(({ expected }) => !expected),
      errorCode,
    ),
  };
}

/** Each phase separately, in their order. */
export function measurePhases(
  phases: readonly Phase[],
  records: readonly OrderRecord[],
  requestsPerIteration: number,
): readonly MeasuredPhase[] {
  const byPhase = Map.groupBy(records, ({ phase }) => phase);
  return phases.map(({ name, durationS, rate }) => {
    const own = byPhase.get(name) ?? [];
    const due = rate === undefined ? begunOf(own) : rate * durationS;
    return {
      name,
      durationS,
      offeredPerSecond: rate === undefined ? null : rate * requestsPerIteration,
      due,
      missing: Math.max(0, due - countWhole(own, requestsPerIteration)),
      ...measure(own, durationS),
    };
  });
}

/**
 * Responses a second as a healthy system gives them, in the time of each phase, whichever phase their requests are of.
 * It counts what the system did in that time, and not what became of the requests of that time. Phases begin with the
 * first record.
 */
export function throughputOf(phases: readonly Phase[], records: readonly OrderRecord[]): readonly number[] {
  const beganAt = startOf(records);
  const respondedAt = records.filter(({ expected }) => expected).map(({ at, tookMs }) => at + tookMs - beganAt);
  return phases.map(({ startS, durationS }) => {
    const within = respondedAt.filter((ms) => ms >= startS * 1000 && ms < (startS + durationS) * 1000);
    return within.length / durationS;
  });
}

/** When the first was sent, ms since 1970; now without any. */
export function startOf(records: readonly OrderRecord[]): number {
  return records.reduce((least, { at }) => Math.min(least, at), Date.now());
}

/** Iterations are numbered from 0 on; one that left no record is known by a later one. */
function begunOf(records: readonly OrderRecord[]): number {
  return records.reduce((most, { index }) => Math.max(most, index + 1), 0);
}

/** Iterations with a record of all their requests. */
function countWhole(records: readonly OrderRecord[], requests: number): number {
  const reported = Map.groupBy(records, ({ index }) => index).values();
  return reported.filter(({ length }) => length >= requests).reduce((sum) => sum + 1, 0);
}

/** `201 Confirmed`, `200 Cancelled: payment declined`, `503 overloaded`, `timeout`. */
export function describeOutcome({ http, status, reason, code }: OrderRecord): string {
  if (http === 0) return code ?? 'no response';
  const what = [status ?? code ?? '', reason === undefined ? '' : `: ${reason}`].join('');
  return what === '' ? String(http) : `${http} ${what}`;
}

function errorCode({ http, code, reason, status }: OrderRecord): string {
  return code ?? reason ?? (status === undefined ? `http ${http}` : `unexpected ${status}`);
}

/** The most frequent first. */
export function countBy<T>(items: readonly T[], nameOf: (item: T) => string): Record<string, number> {
  const groups = [...Map.groupBy(items, nameOf)].map(([name, own]) => [name, own.length] as const);
  return Object.fromEntries(groups.toSorted(([, a], [, b]) => b - a));
}
