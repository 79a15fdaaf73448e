import { formatCount } from '../../output/units.ts';
import { type InvariantResult, type Violation, verdictOf } from '../invariant.ts';

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
  /** Sum of `shop.saga.duration`, ms. */
  readonly durationSums: ByStatus;
  /** `shop.saga.recoveries`: sagas whose duration was not measured by the process that began them. */
  readonly recoveries: number;
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
  /** From the order to its decision by the database's clock, of all that were decided: their sum, ms. */
  readonly waited: ByStatus;
  /** Of those, the ones decided after the last report of a process that ended: a kill may have lost their count. */
  readonly maybeLost: ByStatus;
  /** Those that earlier kills had taken with them when the checked time began (see `lostUntilNow`). */
  readonly lostBefore?: ByStatus | undefined;
  /** Unpublished rows now; those that were unpublished all the time in which a gauge may have been read, and those that were at some time in it. */
  readonly pending: { readonly now: number; readonly lowest: number; readonly highest: number };
  /** Processes that crashed before they reported anything. */
  readonly unreported: number;
  /** Parts of the evidence that are missing. */
  readonly gaps: readonly string[];
  /** What the metric store did not keep: it may explain that too little was counted, and nothing else. */
  readonly dropped: readonly string[];
}

/** `shop.saga.duration` encloses what the database sees of an order: the statements that begin and decide it, retries included. */
const OUTSIDE_DATABASE_MS = 10_000;

/**
 * I11: the counter equals the orders decided, less what a killed process could not report any more, which is `unknown`.
 * The histogram has as many values, of the time that the orders took, and the gauge is the number of unpublished rows.
 * Missing evidence of one status excuses no other. Pure.
 */
export function metricsResult(evidence: MetricEvidence): InvariantResult {
  const counted = sumOf(evidence.reports.map(({ sagas }) => sagas));
  const checked = STATUSES.map((status) => checkCount(status, counted[status], evidence));
  const violations: Violation[] = [
    ...checkDurations(evidence.reports),
    ...checkTimes(evidence),
    ...checkGauges(evidence),
    ...checked.flatMap(({ violation }) => violation ?? []),
  ];
  const gaps = [...evidence.gaps, ...checked.flatMap(({ gap }) => gap ?? [])];
  const live = evidence.reports.filter(({ ended }) => !ended);
  gaps.push(...silences(evidence.reports));
  const summary = STATUSES.map(
    (status) => `shop.sagas ${status} ${formatCount(counted[status])} of ${formatCount(evidence.decided[status])}`,
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
    ...(violations.length > 0 && gaps.length > 0 && { incomplete: true }),
  };
}

/** What is short is excused by what may explain it of this status. */
function checkCount(status: Status, sum: number, evidence: MetricEvidence): { violation?: Violation; gap?: string } {
  const lostBefore = evidence.lostBefore?.[status] ?? 0;
  const [low, high] = [evidence.reported[status] - lostBefore, evidence.decided[status]];
  const subject = `shop.sagas{status=${status}}`;
  if (sum > high)
    return { violation: { kind: 'unexpected', subject, detail: `${subject} is ${sum}, ${high} orders are ${status}` } };
  if (sum >= low) return {};
  const short = `${low - sum} ${status} not counted`;
  if (low - sum <= evidence.maybeLost[status] - lostBefore)
    return { gap: `${short}, which a killed process may have taken with it` };
  if (evidence.unreported > 0)
    return { gap: `${short}, and ${evidence.unreported} processes crashed before they reported anything` };
  const unseen = [...evidence.gaps, ...evidence.dropped];
  if (unseen.length > 0) return { gap: `${short}, and ${unseen.join(', ')}` };
  return { violation: { kind: 'lost', subject, detail: `${subject} is ${sum}, ${low} orders are ${status}` } };
}

/**
 * The unit of `shop.saga.duration`: its sum is at least half of the time by the database, and at most twice that and 10
 * s an order more. Compared when the values are those of exactly these orders, and none was recovered: a recovered
 * saga's time is that of two clocks.
 */
function checkTimes({ reports, decided, reported, waited }: MetricEvidence): Violation[] {
  if (reports.some(({ recoveries }) => recoveries > 0)) return [];
  const [values, sums] = [
    sumOf(reports.map(({ durations }) => durations)),
    sumOf(reports.map((one) => one.durationSums)),
  ];
  return STATUSES.flatMap((status) => {
    const [count, ms, expected] = [decided[status], sums[status], waited[status]];
    if (values[status] !== count || reported[status] !== count) return [];
    if (ms >= expected / 2 && ms <= 2 * expected + count * OUTSIDE_DATABASE_MS) return [];
    const detail = `shop.saga.duration{status=${status}} sums up to ${round(ms)} ms, its ${count} orders took ${round(expected)} ms`;
    return [{ kind: 'wrong' as const, subject: `shop.saga.duration{status=${status}}`, detail }];
  });
}

function round(ms: number): string {
  return ms.toLocaleString('en-US', { maximumFractionDigits: 1 });
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

function checkDurations(reports: readonly ProcessReport[]): Violation[] {
  return reports.flatMap(({ name, sagas, durations }) =>
    STATUSES.filter((status) => sagas[status] !== durations[status]).map((status) => ({
      kind: 'wrong' as const,
      subject: `${name}: values of shop.saga.duration{status=${status}}`,
      detail: `${name}: shop.sagas{status=${status}} is ${sagas[status]}, shop.saga.duration has ${durations[status]} values`,
    })),
  );
}

function checkGauges({ reports, pending }: MetricEvidence): Violation[] {
  return reports.flatMap(({ name, ended, pending: gauge }) => {
    if (ended || gauge === undefined || (gauge >= pending.lowest && gauge <= pending.highest)) return [];
    const rows = rangeOf(pending);
    return [
      {
        kind: 'wrong' as const,
        subject: `${name}: shop.outbox.pending`,
        detail: `${name}: shop.outbox.pending is ${gauge}, ${rows} rows are unpublished`,
      },
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
