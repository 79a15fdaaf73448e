import type { MetricPoint } from '../../otlp/metric-store.ts';
import type { RunClock } from '../../shared/clock.ts';
import { edges } from '../../topology/services.ts';
import type { TelemetryBackend } from '../../trace/backend.ts';

/** Counters that a process reports from their first increment on: absent means 0 as long as processes report at all. */
export const COUNTERS = [
  'shop.sagas',
  'shop.compensation.failures',
  'shop.saga.recoveries',
  'shop.breaker.transitions',
  'shop.call.retries',
  'shop.shipping.messages',
] as const;

/**
 * Gauges whose report has what their service last counted, not what there is when it is made. The longest time between
 * two counts, ms (half a second, and the count itself).
 */
const COUNTED_EVERY_MS: Readonly<Record<string, number>> = {
  'shop.outbox.pending': 750,
  'shop.compensations.waiting': 750,
};

/** Every process of a service reports it, whatever it does; shows that reports come. */
const ALWAYS_REPORTED = 'shop.telemetry.spans';

export type Attributes = Readonly<Record<string, string>>;

/** Series at one moment, by process and attributes. Counters begin at 0 with each process, so processes are kept apart. */
export type Snapshot = ReadonlyMap<string, number>;

/** Reports come once a second; two of them and their way here, ms. */
const FRESH_LIMIT_MS = 4_000;
const POLL_MS = 150;

export interface Reading {
  readonly points: readonly MetricPoint[];
  /** Newest moment up to which every living process has reported, ms since 1970; undefined when none reports. */
  readonly reportedUntil: number | undefined;
  /** Services of which any process has ever reported. */
  readonly services: ReadonlySet<string>;
}

/** Why a counter that no service reports is not 0: the service that counts it has never reported anything. */
export function silenceOf({ services }: Reading, metric: string, { edge }: Attributes = {}): string | undefined {
  // What happens on an edge is counted by its caller.
  const caller = edges.find(({ name }) => name === edge)?.from;
  const counts = caller ?? (metric.startsWith('shop.shipping.') ? 'shipping' : 'orders');
  return services.has(counts) ? undefined : `${counts}, which counts ${metric}, has never reported metrics`;
}

/** Reads series of these names, and how far reports reach. Throws CliError (4) when telemetry cannot be reached. */
export async function readSeries(
  telemetry: Pick<TelemetryBackend, 'metrics'>,
  names: readonly string[],
): Promise<Reading> {
  const all = await telemetry.metrics([...new Set([...names, ALWAYS_REPORTED])]);
  const live = all.filter(({ stale }) => !stale).map(({ time }) => time);
  return {
    points: all.filter(({ name }) => names.includes(name)),
    reportedUntil: live.length === 0 ? undefined : Math.min(...live),
    services: new Set(all.map(({ service }) => service)),
  };
}

/**
 * The same, once the reports of every living process show all that has happened until this call; undefined when they do
 * not come in time.
 */
export async function readFresh(
  telemetry: Pick<TelemetryBackend, 'metrics'>,
  names: readonly string[],
  { clock, signal }: { clock: RunClock; signal: AbortSignal },
): Promise<Reading | undefined> {
  const since = clock.date().getTime() + Math.max(0, ...names.map((name) => COUNTED_EVERY_MS[name] ?? 0));
  const deadline = clock.now() + FRESH_LIMIT_MS;
  for (;;) {
    const reading = await readSeries(telemetry, names);
    if (reading.reportedUntil !== undefined && reading.reportedUntil >= since) return reading;
    if (clock.now() > deadline) return undefined;
    await clock.sleep(POLL_MS, signal);
  }
}

export function snapshot(points: readonly MetricPoint[]): Snapshot {
  return new Map(points.map((point) => [keyOf(point), numberOf(point)]));
}

/** What the matching counters gained since a snapshot; processes that were not there then began at 0. */
export function gained(points: readonly MetricPoint[], since: Snapshot, where: Attributes = {}): number {
  return matching(points, where).reduce((sum, point) => sum + numberOf(point) - (since.get(keyOf(point)) ?? 0), 0);
}

/** What is wrong with a choice of series: a tag that none of them has would choose none, whatever they say. */
export function unknownTag(points: readonly MetricPoint[], where: Attributes): string | undefined {
  if (points.length === 0) return undefined;
  const tag = Object.keys(where).find((key) => points.every((point) => attributeOf(point, key) === undefined));
  return tag === undefined ? undefined : `no series of ${points[0]?.name} has a tag "${tag}"`;
}

export function matching(points: readonly MetricPoint[], where: Attributes = {}): readonly MetricPoint[] {
  return points.filter((point) =>
    Object.entries(where).every(([key, value]) => String(attributeOf(point, key)) === value),
  );
}

/** A histogram counts how many values it has. */
export function numberOf(point: MetricPoint): number {
  return point.type === 'histogram' ? point.count : point.value;
}

function attributeOf(point: MetricPoint, key: string): unknown {
  if (key === 'service' || key === 'instance') return point[key];
  return point.attributes[key];
}

function keyOf({ service, instance, pid, name, attributes }: MetricPoint): string {
  return `${service} ${instance} ${pid} ${name} ${JSON.stringify(attributes)}`;
}
