import { count, type InvariantResult, type Violation, verdictOf } from '../invariant.ts';

export const METRICS_TITLE = 'metrics equal the database';
export const STATUSES = ['Confirmed', 'Cancelled'] as const;
export type Status = (typeof STATUSES)[number];
export type ByStatus = Readonly<Record<Status, number>>;

/** What one process of orders reported last. */
export interface ProcessReport {
  /** `orders-1 (4711)` */
  readonly name: string;
  /** It reports no more. */
  readonly ended: boolean;
  /** When the values were read in the process, ms since 1970. */
  readonly reportedAt: number;
  /** `shop.sagas`. */
  readonly sagas: ByStatus;
  /** Count of `shop.saga.duration`. */
  readonly durations: ByStatus;
  /** `shop.outbox.pending`; undefined until it was read once. */
  readonly pending: number | undefined;
}

/** Reports and database, compared while both move. */
export interface MetricEvidence {
  readonly reports: readonly ProcessReport[];
  /** Orders decided since the platform started, up to now: no more can have been counted. */
  readonly decided: ByStatus;
  /** Those decided long enough before the oldest report of a live process that it must hold them. */
  readonly reported: ByStatus;
  /** Of those, the ones decided after the last report of a process that ended: a kill may have lost their count. */
  readonly maybeLost: ByStatus;
  /** Those that earlier kills had taken with them when what is judged began (see `lostUntilNow`). */
  readonly lostBefore?: ByStatus | undefined;
  /** Unpublished rows now; those that were unpublished all the time in which a gauge may have been read, and those that were at some time in it. */
  readonly pending: { readonly now: number; readonly lowest: number; readonly highest: number };
  /** Processes that crashed before they reported anything. */
  readonly unreported: number;
  /** Reasons why the reports may be incomplete. */
  readonly gaps: readonly string[];
}

/**
 * I11: the counter equals the orders decided (less what a killed process could not report any more, which is
 * `unknown`), the histogram has as many values, and the gauge is the number of unpublished rows. Pure.
 */
export function judgeMetrics(evidence: MetricEvidence): InvariantResult {
  const counted = sumOf(evidence.reports.map(({ sagas }) => sagas));
  const violations: Violation[] = [...judgeDurations(evidence.reports), ...judgeGauges(evidence)];
  const gaps = [...evidence.gaps];
  for (const status of STATUSES) {
    const lostBefore = evidence.lostBefore?.[status] ?? 0;
    const [low, high, sum] = [evidence.reported[status] - lostBefore, evidence.decided[status], counted[status]];
    if (sum > high) {
      violations.push({
        kind: 'unexpected',
        detail: `shop.sagas{status=${status}} is ${sum}, ${high} orders are ${status}`,
      });
    } else if (sum < low && (low - sum <= evidence.maybeLost[status] - lostBefore || evidence.unreported > 0)) {
      gaps.push(`${low - sum} ${status} not counted, which a killed process may have taken with it`);
    } else if (sum < low && gaps.length === 0) {
      violations.push({ kind: 'lost', detail: `shop.sagas{status=${status}} is ${sum}, ${low} orders are ${status}` });
    }
  }
  const live = evidence.reports.filter(({ ended }) => !ended);
  gaps.push(...silences(evidence.reports));
  const summary = STATUSES.map(
    (status) => `shop.sagas ${status} ${count(counted[status])} of ${count(evidence.decided[status])}`,
  );
  return {
    id: 'I11',
    title: METRICS_TITLE,
    verdict: verdictOf(violations, gaps),
    evidence: [
      ...summary,
      `outbox.pending ${live.map(({ pending }) => pending ?? '-').join('/')} of ${evidence.pending.now}`,
      `${evidence.reports.length} processes`,
      ...gaps,
    ].join(', '),
    violations,
    inFlight: 0,
  };
}

/**
 * Decisions that kills have taken with them: decided, not counted, and a kill explains it. What none explains is not among
 * them, so that it stays a violation. Pure.
 */
export function lostUntilNow({ reports, reported, maybeLost, unreported }: MetricEvidence): ByStatus {
  const counted = sumOf(reports.map(({ sagas }) => sagas));
  const lost = (status: Status) => {
    const missing = Math.max(0, reported[status] - counted[status]);
    return missing <= maybeLost[status] || unreported > 0 ? missing : 0;
  };
  return { Confirmed: lost('Confirmed'), Cancelled: lost('Cancelled') };
}

/** What was never reported was compared with nothing. */
function silences(reports: readonly ProcessReport[]): string[] {
  if (reports.length === 0) return ['no process of orders has reported'];
  const silent = reports.filter(({ ended, pending }) => !ended && pending === undefined);
  return silent.map(({ name }) => `${name} has not reported shop.outbox.pending`);
}

function judgeDurations(reports: readonly ProcessReport[]): Violation[] {
  return reports.flatMap(({ name, sagas, durations }) =>
    STATUSES.filter((status) => sagas[status] !== durations[status]).map((status) => ({
      kind: 'wrong' as const,
      detail: `${name}: shop.sagas{status=${status}} is ${sagas[status]}, shop.saga.duration has ${durations[status]} values`,
    })),
  );
}

function judgeGauges({ reports, pending }: MetricEvidence): Violation[] {
  return reports.flatMap(({ name, ended, pending: gauge }) => {
    if (ended || gauge === undefined || (gauge >= pending.lowest && gauge <= pending.highest)) return [];
    const rows = rangeOf(pending);
    return [
      { kind: 'wrong' as const, detail: `${name}: shop.outbox.pending is ${gauge}, ${rows} rows are unpublished` },
    ];
  });
}

function rangeOf({ lowest, highest }: MetricEvidence['pending']): string {
  return lowest === highest ? `${lowest}` : `${lowest} to ${highest}`;
}

export function sumOf(parts: readonly ByStatus[]): ByStatus {
  return {
    Confirmed: parts.reduce((sum, { Confirmed }) => sum + Confirmed, 0),
    Cancelled: parts.reduce((sum, { Cancelled }) => sum + Cancelled, 0),
  };
}
