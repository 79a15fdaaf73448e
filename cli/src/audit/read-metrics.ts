import { AUDIT_HORIZON_DAYS } from '@shop/kit/keep-days.ts';
import type { MetricPoint, MetricStats } from '../otlp/metric-store.ts';
import { lastingNames } from '../otlp/receiver.ts';
import { poll } from '../shared/wait-until.ts';
import { unknownResult } from './check-orders.ts';
import { HORIZON_MS } from './horizon.ts';
import type { InvariantResult } from './invariant.ts';
import {
  type ByStatus,
  lostUntilNow,
  METRICS_TITLE,
  type MetricEvidence,
  metricsResult,
  type ProcessReport,
  STATUSES,
  sumOf,
} from './invariants/metrics.ts';
import type { AuditTarget } from './target.ts';

const NAMES = [...lastingNames, 'shop.outbox.pending'];

/** An order is counted right after the response of the statement that decided it. In ms. */
const COUNTING_MS = 250;

/** A process reports every second: what it has not reported within a report and its way here was lost. In ms. */
const LOSS_WINDOW_MS = 2_000;

/** How old the gauge may be when it is reported: the relay's poll, and a batch that waits for its confirms. In ms. */
const GAUGE_AGE_MS = 6_500;

/** Time for two more reports of every process, in ms. */
const LIMIT_MS = 3_500;
const POLL_MS = 250;

/** Decisions that kills have kept from being counted so far, which a later check leaves out. Rejects as `checkMetrics`. */
export async function readLostCounts(target: AuditTarget): Promise<ByStatus> {
  return lostUntilNow((await look(target)).evidence);
}

/**
 * Checks I11 again until it holds or the limit ends: reports come every second. `lostBefore` is what was lost before
 * the time that is checked. Rejects when a part cannot be read.
 */
export async function checkMetrics(
  target: AuditTarget,
  { lostBefore, signal }: { lostBefore?: ByStatus | undefined; signal?: AbortSignal | undefined },
): Promise<InvariantResult> {
  if (Date.now() - target.startedAt > HORIZON_MS) {
    const reason = `processes have counted for more than ${AUDIT_HORIZON_DAYS} days, orders of that time may be deleted`;
    return unknownResult({ id: 'I11', title: METRICS_TITLE }, reason);
  }
  const deadline = performance.now() + LIMIT_MS;
  const check = async (): Promise<InvariantResult | undefined> => {
    const { evidence, complete } = await look(target);
    const result = metricsResult({ ...evidence, lostBefore });
    if ((complete && result.verdict === 'pass') || performance.now() > deadline) return result;
    return undefined;
  };
  return poll(check, { everyMs: POLL_MS, signal });
}

/** `complete`: nothing has moved since the reports, so that they are compared with exact numbers. */
async function look(target: AuditTarget): Promise<{ evidence: MetricEvidence; complete: boolean }> {
  const [points, stats] = await Promise.all([target.telemetry.metrics(NAMES), target.telemetry.metricStats()]);
  const reports = reportsOf(points);
  const live = reports.filter(({ ended }) => !ended);
  const horizon = Math.min(...live.map(({ reportedAt }) => reportedAt)) - COUNTING_MS;
  const ends = reports.filter(({ ended }) => ended).map(({ reportedAt }) => reportedAt - COUNTING_MS);
  const row = await countDecisions(target, Number.isFinite(horizon) ? horizon : 0, ends);
  const evidence: MetricEvidence = {
    reports,
    decided: { Confirmed: row.confirmed, Cancelled: row.cancelled },
    reported: { Confirmed: row.reported_confirmed, Cancelled: row.reported_cancelled },
    maybeLost: { Confirmed: row.lost_confirmed, Cancelled: row.lost_cancelled },
    pending: { now: row.pending, lowest: row.pending_lowest, highest: row.pending_highest },
    waited: { Confirmed: row.waited_confirmed, Cancelled: row.waited_cancelled },
    gaps: gapsOf(target, live),
    dropped: droppedBy(stats),
    unreported: countUnreported(target, reports),
  };
  const isCounted = row.confirmed === row.reported_confirmed && row.cancelled === row.reported_cancelled;
  const complete = isCounted && live.every(({ pending }) => pending === row.pending);
  return { evidence, complete };
}

function gapsOf({ instances }: AuditTarget, live: readonly ProcessReport[]): string[] {
  const expected = instances.filter((name) => name.startsWith('orders-'));
  const silent = expected.filter((instance) => !live.some(({ name }) => name.startsWith(`${instance} `)));
  return silent.map((instance) => `${instance} does not report`);
}

/** Processes and series that the metric store has no room for. */
function droppedBy({ forgottenInstances, refusedSeries }: MetricStats): string[] {
  return [
    ...(forgottenInstances > 0 ? [`the metric store has forgotten ${forgottenInstances} processes`] : []),
    ...(refusedSeries > 0 ? [`the metric store was full for ${refusedSeries} points`] : []),
  ];
}

/** Crashed processes that left no report at all: they lived for less than a second. */
function countUnreported({ crashes }: AuditTarget, reports: readonly ProcessReport[]): number {
  const crashed = Object.entries(crashes).filter(([instance]) => instance.startsWith('orders-'));
  return crashed.reduce((sum, [instance, count]) => {
    const seen = reports.filter(({ name, ended }) => ended && name.startsWith(`${instance} `)).length;
    return sum + Math.max(0, count - seen);
  }, 0);
}

interface Decisions {
  readonly confirmed: number;
  readonly cancelled: number;
  readonly reported_confirmed: number;
  readonly reported_cancelled: number;
  readonly lost_confirmed: number;
  readonly lost_cancelled: number;
  readonly waited_confirmed: number;
  readonly waited_cancelled: number;
  readonly pending: number;
  readonly pending_lowest: number;
  readonly pending_highest: number;
}

/** Decisions since telemetry is received: `$2` is how far all reports reach, `$3` when processes reported last. */
async function countDecisions(target: AuditTarget, horizon: number, ends: readonly number[]): Promise<Decisions> {
  const counts = STATUSES.map((status) => {
    const name = status.toLowerCase();
    return `count(*) FILTER (WHERE status = '${status}')::int AS ${name},
      count(*) FILTER (WHERE status = '${status}' AND at <= $2::float8)::int AS reported_${name},
      count(*) FILTER (WHERE status = '${status}' AND EXISTS (
        SELECT FROM unnest($3::float8[]) AS ended WHERE at > ended AND at <= ended + ${LOSS_WINDOW_MS}))::int AS lost_${name},
      coalesce(sum(took) FILTER (WHERE status = '${status}'), 0)::float8 AS waited_${name}`;
  });
  const [row] = await target.databases.query<Decisions>(
    'orders',
    `WITH decisions AS (
       SELECT status, (extract(epoch FROM decided_at) * 1000)::float8 AS at,
         extract(epoch FROM decided_at - created_at) * 1000 AS took
       FROM orders WHERE decided_at >= to_timestamp($1::float8 / 1000))
     SELECT ${counts.join(', ')}, (SELECT count(*) FROM outbox WHERE published_at IS NULL)::int AS pending,
       (SELECT count(*) FROM outbox WHERE published_at IS NULL AND created_at <= to_timestamp(($2::float8 - ${GAUGE_AGE_MS}) / 1000))::int AS pending_lowest,
       (SELECT count(*) FROM outbox WHERE published_at IS NULL OR published_at > to_timestamp(($2::float8 - ${GAUGE_AGE_MS}) / 1000))::int AS pending_highest
     FROM decisions`,
    [target.startedAt, horizon, ends],
  );
  if (row === undefined) throw new Error('the orders database counted nothing');
  return row;
}

/** One report per process, those that ended included. */
export function reportsOf(points: readonly MetricPoint[]): ProcessReport[] {
  const orders = points.filter(({ service, scope }) => service === 'orders' && scope === 'Shop.Orders');
  const processes = Map.groupBy(orders, ({ instance, pid }) => `${instance} (${pid ?? 'pid unknown'})`);
  return [...processes].map(([name, own]) => ({
    name,
    ended: own.every(({ stale }) => stale),
    reportedAt: Math.max(...own.map(({ time }) => time)),
    sagas: byStatus(own, 'shop.sagas'),
    durations: byStatus(own, 'shop.saga.duration'),
    durationSums: byStatus(own, 'shop.saga.duration', (point) => (point.type === 'histogram' ? point.sum : 0)),
    recoveries: own.filter(({ name }) => name === 'shop.saga.recoveries').reduce((sum, one) => sum + numberIn(one), 0),
    pending: own
      .map((point) => (point.name === 'shop.outbox.pending' ? numberIn(point) : undefined))
      .find((value) => value !== undefined),
  }));
}

function byStatus(points: readonly MetricPoint[], name: string, read = numberIn): ByStatus {
  const ofName = points.filter((point) => point.name === name);
  return sumOf(ofName.map((point) => ({ Confirmed: 0, Cancelled: 0, [String(point.attributes.status)]: read(point) })));
}

function numberIn(point: MetricPoint): number {
  return point.type === 'histogram' ? point.count : point.value;
}
