import type { MetricPoint } from '../otlp/metric-store.ts';
import type { TelemetryBackend } from './backend.ts';
import type { TraceSpan } from './tree.ts';

/** The metric in which each process says what became of its spans. */
const SPAN_ACCOUNTING_METRIC = 'shop.telemetry.spans';

/** How long after a limit the bookkeeping may take to decide, ms: two metric reports and some delay. */
export const ACCOUNTING_GRACE_MS = 3_000;

/** The span bookkeeping of one process at its last report. */
export interface ProcessAccount {
  readonly service: string;
  readonly instance: string;
  readonly pid: number | undefined;
  /** Started and not yet ended. */
  readonly open: number;
  /** Ended, neither exported nor dropped. */
  readonly outstanding: number;
  readonly dropped: number;
  /** When the numbers were read, ms since 1970. */
  readonly reportedAt: number;
  /** The process reports no more. */
  readonly gone: boolean;
}

/** Reads all processes' accounts; empty when no process reports metrics to this backend. */
export async function readAccounts(backend: Pick<TelemetryBackend, 'metrics'>): Promise<ProcessAccount[]> {
  const points = await backend.metrics([SPAN_ACCOUNTING_METRIC]);
  const byProcess = Map.groupBy(points, ({ service, instance, pid }) => `${service} ${instance} ${pid}`);
  return [...byProcess.values()].flatMap((ofProcess) => {
    const [first] = ofProcess;
    return first === undefined ? [] : [accountOf(first, ofProcess)];
  });
}

function accountOf(first: MetricPoint, points: readonly MetricPoint[]): ProcessAccount {
  const count = (state: string) => {
    const point = points.find(({ attributes }) => attributes.state === state);
    return point === undefined || point.type === 'histogram' ? 0 : point.value;
  };
  const { service, instance, pid, time, stale } = first;
  return {
    service,
    instance,
    pid,
    open: count('started') - count('ended'),
    outstanding: count('ended') - count('exported') - count('dropped'),
    dropped: count('dropped'),
    reportedAt: time,
    gone: stale,
  };
}

/** Why a span of a service is not in its trace. */
export type Absence =
  | 'never created'
  | 'not ended yet'
  | 'not exported yet'
  | 'lost with process'
  | 'dropped'
  | 'not known';

export interface AbsenceReason {
  readonly service: string;
  readonly absence: Absence;
  /** A sentence with the evidence. */
  readonly evidence: string;
}

/** Whether a later report may say something else. */
export function mayStillCome({ absence }: AbsenceReason): boolean {
  return absence === 'not ended yet' || absence === 'not exported yet';
}

/** Says of each of these services why spans of it are missing from a trace that has spans. */
export function absencesIn(
  spans: readonly TraceSpan[],
  services: readonly string[],
  accounts: readonly ProcessAccount[],
): AbsenceReason[] {
  const starts = spans.map(({ startNanos }) => Number(startNanos / 1_000_000n));
  const ends = spans.map(({ endNanos }) => Number(endNanos / 1_000_000n));
  const activity = { firstActivityMs: Math.min(...starts), lastActivityMs: Math.max(...ends) };
  return [...new Set(services)].map((service) => absenceOf(service, accounts, activity));
}

/**
 * Says why spans of `service` are missing from a trace whose first and last activity was then (ms since 1970).
 * "never created" needs proof: all its processes live, with nothing open, nothing outstanding and nothing dropped in
 * reports made later than the last activity.
 */
function absenceOf(
  service: string,
  accounts: readonly ProcessAccount[],
  { firstActivityMs, lastActivityMs }: { firstActivityMs: number; lastActivityMs: number },
): AbsenceReason {
  const own = accounts.filter((account) => account.service === service);
  const name = ({ instance, pid }: ProcessAccount) => (pid === undefined ? instance : `${instance} (pid ${pid})`);
  const reason = (absence: Absence, evidence: string): AbsenceReason => ({ service, absence, evidence });
  if (own.length === 0) return reason('not known', `no process of ${service} has reported`);

  // A process that ended before the trace began cannot have had a part in it; its last report may be 2 s older.
  const gone = own.find((account) => account.gone && account.reportedAt > firstActivityMs - 2_000);
  if (gone !== undefined) return reason('lost with process', `${name(gone)} is gone, and what it had not sent with it`);
  const live = own.filter((account) => !account.gone);
  if (live.length === 0) return reason('not known', `no process of ${service} is running`);
  const busy = live.find((account) => account.outstanding > 0);
  if (busy !== undefined) return reason('not exported yet', `${name(busy)} has ${busy.outstanding} spans to send`);
  const late = live.find((account) => account.reportedAt <= lastActivityMs);
  if (late !== undefined) return reason('not exported yet', `${name(late)} has not reported since`);
  const running = live.find((account) => account.open > 0);
  if (running !== undefined) return reason('not ended yet', `${name(running)} has ${running.open} spans under way`);
  const dropping = live.find((account) => account.dropped > 0);
  if (dropping !== undefined) return reason('dropped', `${name(dropping)} has dropped ${dropping.dropped} spans`);
  return reason('never created', `every process of ${service} has ended and sent all its spans, and reported later`);
}
