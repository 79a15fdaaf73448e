import type { MetricPoint } from '../otlp/metric-store.ts';
import type { AttributeMap } from '../otlp/otlp-json.ts';
import { type Distribution, distributionSince, mergeDistributions, quantile } from './histogram.ts';

/** All points at one moment. */
export interface Sample {
  /** ms since 1970. */
  readonly time: number;
  readonly points: readonly MetricPoint[];
}

/** One instrument of the orders meter with one set of tags, over all instances. */
export interface InstrumentRow {
  readonly name: string;
  readonly unit: string;
  readonly attributes: AttributeMap;
  readonly type: MetricPoint['type'];
  /** Counters: the total, those of gone instances included; gauges: the value; histograms: how many values. */
  readonly value: number;
  /** Undefined in a first report and for gauges. */
  readonly perSecond: number | undefined;
  /** In the instrument's unit; of the interval, or of everything in a first report. Histograms only. */
  readonly p50: number | undefined;
  readonly p95: number | undefined;
  /** No instance reports it any more. */
  readonly stale: boolean;
}

/** Rate, errors and duration of one operation that a service serves. */
export interface RedRow {
  readonly service: string;
  readonly operation: string;
  readonly total: number;
  readonly totalErrors: number;
  readonly perSecond: number | undefined;
  readonly errorsPerSecond: number | undefined;
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
}

export interface Report {
  /** ISO 8601. */
  readonly time: string;
  /** The time that rates and quantiles cover, undefined in a first report. */
  readonly intervalMs: number | undefined;
  readonly instruments: readonly InstrumentRow[];
  readonly red: readonly RedRow[];
  /** HTTP requests that wait for their response, by service. */
  readonly waiting: Readonly<Record<string, number>>;
}

export const ORDERS_METER = 'Shop.Orders';
/** Stock, which speaks gRPC, has no such metric: the conventions have none. */
export const ACTIVE_REQUESTS = 'http.server.active_requests';
/** Metrics of work that a service does for others, in s, and how to name it. */
const RED_METRICS: Readonly<Record<string, (attributes: AttributeMap) => string>> = {
  'http.server.request.duration': (a) => `${a['http.request.method']} ${a['http.route'] ?? '(no route)'}`,
  'rpc.server.call.duration': (a) => String(a['rpc.method']),
  'messaging.process.duration': (a) => `${a['messaging.operation.name']} ${routingKeyOf(a)}`,
};

function routingKeyOf(attributes: AttributeMap): string {
  const destination = String(attributes['messaging.destination.name']);
  return destination.split(':')[1] ?? destination;
}

/** What happened between two samples; with one sample, totals since the services started. Pure. */
export function createReport(now: Sample, before?: Sample): Report {
  const intervalMs = before === undefined ? undefined : now.time - before.time;
  const changes = changesBetween(now, before);
  return {
    time: new Date(now.time).toISOString(),
    intervalMs,
    instruments: instrumentRows(
      changes.filter(({ point }) => point.scope === ORDERS_METER),
      intervalMs,
    ),
    red: redRows(
      changes.filter(({ point }) => point.name in RED_METRICS),
      intervalMs,
    ),
    waiting: waitingIn(now),
  };
}

/** Active requests by service, replicas added. What a process that is gone reported last waits no more. Pure. */
export function waitingIn({ points }: Sample): Report['waiting'] {
  const waiting: Record<string, number> = {};
  for (const point of points) {
    if (point.name !== ACTIVE_REQUESTS || point.stale || point.type === 'histogram') continue;
    waiting[point.service] = (waiting[point.service] ?? 0) + point.value;
  }
  return waiting;
}

/** What happened to one series between two samples. */
export interface Change {
  readonly point: MetricPoint;
  /** Added in the interval: a counter's increase, a histogram's number of values. */
  readonly added: number;
  readonly distribution: Distribution | undefined;
}

/** What every series of `now` has gained since `before`; everything it has when there is no `before`. */
export function changesBetween(now: Sample, before?: Sample): Change[] {
  const earlier = new Map(before?.points.map((point) => [seriesKey(point), point]));
  return now.points.map((point) => ({ point, ...changeOf(point, earlier.get(seriesKey(point))) }));
}

/** A process that was not there before has counted all it has in the interval. */
function changeOf(point: MetricPoint, before: MetricPoint | undefined): Omit<Change, 'point'> {
  if (point.type === 'histogram') {
    const distribution = distributionSince(point, before?.type === 'histogram' ? before : undefined);
    return { added: distribution.count, distribution };
  }
  const earlier = before === undefined || before.type === 'histogram' ? 0 : before.value;
  return { added: point.value - earlier, distribution: undefined };
}

function seriesKey({ service, instance, pid, name, attributes }: MetricPoint): string {
  return JSON.stringify([service, instance, pid, name, attributes]);
}

function instrumentRows(changes: readonly Change[], intervalMs: number | undefined): InstrumentRow[] {
  const groups = Map.groupBy(changes, ({ point }) => JSON.stringify([point.name, point.attributes]));
  return [...groups.values()]
    .map((group) => instrumentRow(group, intervalMs))
    .sort((a, b) => compare(`${a.name} ${JSON.stringify(a.attributes)}`, `${b.name} ${JSON.stringify(b.attributes)}`));
}

function instrumentRow(group: readonly Change[], intervalMs: number | undefined): InstrumentRow {
  const { name, unit, attributes, type } = (group[0] as Change).point;
  const merged = mergeDistributions(group.flatMap(({ distribution }) => distribution ?? []));
  return {
    name,
    unit,
    attributes,
    type,
    value: type === 'gauge' ? gaugeOf(group) : sum(group.map(({ point }) => totalOf(point))),
    perSecond: type === 'gauge' ? undefined : rate(sum(group.map(({ added }) => added)), intervalMs),
    p50: merged && quantile(merged, 0.5),
    p95: merged && quantile(merged, 0.95),
    stale: group.every(({ point }) => point.stale),
  };
}

/** Gauges of what an instance has for itself. */
const OWN_GAUGES: readonly string[] = ['shop.sagas.active'];

/**
 * The others are of tables and edges that every instance sees alike, and not added; the last report of an ended one is
 * ignored.
 */
function gaugeOf(group: readonly Change[]): number {
  const live = group.filter(({ point }) => !point.stale);
  const values = (live.length > 0 ? live : group).map(({ point }) => totalOf(point));
  const isOwn = OWN_GAUGES.includes((group[0] as Change).point.name);
  return isOwn && live.length > 0 ? sum(values) : Math.max(...values);
}

function redRows(changes: readonly Change[], intervalMs: number | undefined): RedRow[] {
  const operationOf = ({ point }: Change) => RED_METRICS[point.name]?.(point.attributes) ?? point.name;
  const groups = Map.groupBy(changes, (change) => JSON.stringify([change.point.service, operationOf(change)]));
  return [...groups.values()]
    .map((group): RedRow => {
      const failed = group.filter(({ point }) => point.attributes['error.type'] !== undefined);
      const merged = mergeDistributions(group.flatMap(({ distribution }) => distribution ?? []));
      return {
        service: (group[0] as Change).point.service,
        operation: operationOf(group[0] as Change),
        total: sum(group.map(({ point }) => totalOf(point))),
        totalErrors: sum(failed.map(({ point }) => totalOf(point))),
        perSecond: rate(sum(group.map(({ added }) => added)), intervalMs),
        errorsPerSecond: rate(sum(failed.map(({ added }) => added)), intervalMs),
        p50Ms: merged && inMs(quantile(merged, 0.5)),
        p95Ms: merged && inMs(quantile(merged, 0.95)),
      };
    })
    .sort((a, b) => compare(`${a.service} ${a.operation}`, `${b.service} ${b.operation}`));
}

function totalOf(point: MetricPoint): number {
  return point.type === 'histogram' ? point.count : point.value;
}

function rate(added: number, intervalMs: number | undefined): number | undefined {
  return intervalMs === undefined || intervalMs <= 0 ? undefined : added / (intervalMs / 1000);
}

function inMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
