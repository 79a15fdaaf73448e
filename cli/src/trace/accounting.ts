import type { MetricPoint } from '../otlp/metric-store.ts';
import type { TelemetryBackend } from './backend.ts';
import type { TraceSpan } from './tree.ts';

/** The metric in which each process says what became of its spans. */
const SPAN_ACCOUNTING_METRIC = 'shop.telemetry.spans';
/** What a process adds to its last report when it ends in order. */
const CLOSED_METRIC = 'shop.telemetry.closed';

/** How long after a limit the bookkeeping may take to decide, ms: two metric reports and some delay. */
export const ACCOUNTING_GRACE_MS = 3_000;

/** Two clocks that differ by more are not the same: one was shifted. Transit and scheduling take less, ms. */
const SKEW_FROM_MS = 1_000;

/** The span bookkeeping of one process at its last report. Times are ms since 1970 on the receiver's clock. */
export interface ProcessAccount {
  readonly service: string;
  readonly instance: string;
  readonly pid: number | undefined;
  /** How far the receiver's clock is ahead of the process's, ms; 0 unless one of them was shifted. */
  readonly skewMs: number;
  /** When the process began, or where it does not say, when it was read first. */
  readonly startedAt: number;
  /** Started and not yet ended. */
  readonly open: number;
  /** Ended, neither exported nor dropped. */
  readonly outstanding: number;
  readonly dropped: number;
  /** The first report that had the last of them. */
  readonly droppedAt: number;
  /** When the numbers were read. */
  readonly reportedAt: number;
  /** All spans that were started until then have been sent or dropped; undefined when no report showed it. */
  readonly settledAt: number | undefined;
  /** The process reports no more. */
  readonly gone: boolean;
  /** It has ended, after all its spans had been sent or dropped: nothing was lost with it, whenever that was. */
  readonly closed: boolean;
}

/** Reads the accounts of all processes; none when no process reports metrics to this backend. */
export type ReadAccounts = () => Promise<readonly ProcessAccount[]>;

/** A report of a process without an open span: what it had ended, it had started. */
interface Calm {
  readonly at: number;
  readonly ended: number;
}

/**
 * Remembers what earlier reads have shown. Spans are exported in the order of their end, so what had ended in one
 * report has been sent when a later one has exported as many. A busy process never reports 0 outstanding.
 */
export function createAccountReader(backend: Pick<TelemetryBackend, 'metrics'>): ReadAccounts {
  const calms = new Map<string, Calm[]>();
  return async () => {
    const points = await backend.metrics([SPAN_ACCOUNTING_METRIC, CLOSED_METRIC]);
    const byProcess = Map.groupBy(points, ({ service, instance, pid }) => `${service} ${instance} ${pid}`);
    return [...byProcess].flatMap(([key, ofProcess]) => {
      const first = ofProcess.find((point) => point.name === SPAN_ACCOUNTING_METRIC);
      if (first === undefined) return [];
      const earlier = calms.get(key) ?? [];
      calms.set(key, earlier);
      return [accountOf(first, ofProcess, earlier)];
    });
  };
}

/** Adds to `calms` when this report is another one. */
function accountOf(first: MetricPoint, points: readonly MetricPoint[], calms: Calm[]): ProcessAccount {
  const pointOf = (state: string) => points.find(({ attributes }) => attributes.state === state);
  const count = (state: string) => {
    const point = pointOf(state);
    return point === undefined || point.type === 'histogram' ? 0 : point.value;
  };
  const { service, instance, pid, time, startTime, createdAt = startTime, receivedAt, stale } = first;
  const difference = receivedAt - time;
  const skewMs = Math.abs(difference) > SKEW_FROM_MS ? difference : 0;
  const reportedAt = time + skewMs;
  const [started, ended, dropped] = [count('started'), count('ended'), count('dropped')];
  const sent = count('exported') + dropped;
  if (started === ended && calms.at(-1)?.at !== reportedAt) calms.push({ at: reportedAt, ended });
  return {
    service,
    instance,
    pid,
    skewMs,
    startedAt: createdAt + skewMs,
    open: started - ended,
    outstanding: ended - sent,
    dropped,
    droppedAt: (pointOf('dropped')?.changedAt ?? time) + skewMs,
    reportedAt,
    settledAt: calms.findLast((calm) => calm.ended <= sent)?.at,
    gone: stale,
    closed: points.some(({ name }) => name === CLOSED_METRIC) && started === ended && ended === sent,
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
  const skewOf = ({ service, instance, pid }: TraceSpan) =>
    accounts.find((one) => one.service === service && one.instance === instance && one.pid === pid)?.skewMs ?? 0;
  const starts = spans.map((span) => Number(span.startNanos / 1_000_000n) + skewOf(span));
  const ends = spans.map((span) => Number(span.endNanos / 1_000_000n) + skewOf(span));
  const activity = { firstActivityMs: Math.min(...starts), lastActivityMs: Math.max(...ends) };
  return [...new Set(services)].map((service) => absenceOf(service, accounts, activity));
}

/** Of a trace, ms since 1970 on the receiver's clock. */
interface Activity {
  readonly firstActivityMs: number;
  readonly lastActivityMs: number;
}

/**
 * Says why spans of `service` are missing from a trace with this activity. "never created" needs proof: all processes
 * that can have had a part in it live or have ended in order, and have dropped nothing since the first activity. They have
 * also sent what they started until a report later than the last activity, or until their last one.
 */
function absenceOf(service: string, accounts: readonly ProcessAccount[], activity: Activity): AbsenceReason {
  const { firstActivityMs, lastActivityMs } = activity;
  const own = accounts.filter((account) => account.service === service);
  const name = ({ instance, pid }: ProcessAccount) => (pid === undefined ? instance : `${instance} (pid ${pid})`);
  const reason = (absence: Absence, evidence: string): AbsenceReason => ({ service, absence, evidence });
  if (own.length === 0) return reason('not known', `no process of ${service} has reported`);

  const gone = own.find((account) => account.gone && !account.closed && mayHaveMet(account, own, activity));
  if (gone !== undefined) return reason('lost with process', `${name(gone)} is gone, and what it had not sent with it`);
  const accountable = own.filter((account) => !account.gone || account.closed);
  if (accountable.length === 0) return reason('not known', `no process of ${service} is running`);
  const unsettled = accountable.filter((account) => !isSettled(account, lastActivityMs));
  const busy = unsettled.find((account) => account.outstanding > 0);
  if (busy !== undefined) return reason('not exported yet', `${name(busy)} has ${busy.outstanding} spans to send`);
  const late = unsettled.find((account) => account.reportedAt <= lastActivityMs);
  if (late !== undefined) return reason('not exported yet', `${name(late)} has not reported since`);
  const [running] = unsettled;
  if (running !== undefined) return reason('not ended yet', `${name(running)} has ${running.open} spans in flight`);
  const dropping = accountable.find(({ dropped, droppedAt }) => dropped > 0 && droppedAt > firstActivityMs);
  if (dropping !== undefined)
    return reason('dropped', `${name(dropping)} has dropped spans, ${dropping.dropped} so far`);
  return reason('never created', `every process of ${service} has ended and sent all its spans, and reported later`);
}

/**
 * Whether a process that is gone can have had a part in the trace: not when it ended before the trace began. Its last
 * report may be 2 s older than its end, unless its successor had started by then.
 */
function mayHaveMet(gone: ProcessAccount, own: readonly ProcessAccount[], { firstActivityMs }: Activity): boolean {
  if (gone.reportedAt <= firstActivityMs - 2_000) return false;
  return !own.some(
    ({ instance, startedAt }) =>
      instance === gone.instance && startedAt > gone.reportedAt && startedAt <= firstActivityMs,
  );
}

function isSettled(account: ProcessAccount, lastActivityMs: number): boolean {
  const { open, outstanding, reportedAt, settledAt, closed } = account;
  if (closed) return true;
  if (settledAt !== undefined && settledAt > lastActivityMs) return true;
  return open === 0 && outstanding === 0 && reportedAt > lastActivityMs;
}
