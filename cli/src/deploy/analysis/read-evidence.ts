import { attemptOutcomes } from '@shop/kit/attempt-outcomes.ts';
import type { MetricPoint } from '../../otlp/metric-store.ts';
import type { Arm, Evidence } from './evidence.ts';

/** The instruments whose latest points are read. */
export const ATTEMPTS = 'shop.upstream.attempts';
export const DURATIONS = 'shop.upstream.attempt.duration';

/** Fewer responses say nothing about their 95th percentile. */
const LEAST_TIMED = 20;

type Points = readonly MetricPoint[];

/** How the points of two reads are compared. */
export interface Reading {
  /** The service whose canary is analysed. */
  readonly service: string;
  /** When the later points were read, in ms since 1970. */
  readonly at: number;
  /** Slower responses are slow, in s; undefined before the warm-up has ended. */
  readonly slowAboveS: number | undefined;
}

/**
 * What was counted between two reads: first attempts that were drawn while a canary was. Counters of a process begin at 0, so that a
 * series that was not there before counts from its beginning.
 */
export function evidenceBetween(
  before: Points,
  now: Points,
  { service, at, slowAboveS }: Reading,
): readonly Evidence[] {
  const known = new Map(before.map((point) => [identityOf(point), point]));
  const lines = new Map<string, { -readonly [key in keyof Evidence]: Evidence[key] }>();

  function lineOf({ attributes }: MetricPoint) {
    const arm: Arm = attributes.track === 'canary' ? 'canary' : 'stable';
    const share = Number(attributes.share) / 100;
    const key = `${arm} ${share}`;
    const line = lines.get(key) ?? { at, arm, share, requests: 0, bad: 0, slow: slowAboveS === undefined ? null : 0 };
    lines.set(key, line);
    return line;
  }

  for (const point of now) {
    if (!isDrawn(point, service)) continue;
    const earlier = known.get(identityOf(point));
    if (point.type === 'histogram') {
      if (slowAboveS === undefined) continue;
      const line = lineOf(point);
      const slow = slowIn(point, slowAboveS) - (earlier === undefined ? 0 : slowIn(earlier, slowAboveS));
      line.slow = (line.slow ?? 0) + slow;
    } else {
      const count = point.value - (earlier === undefined || earlier.type === 'histogram' ? 0 : earlier.value);
      const line = lineOf(point);
      line.requests += count;
      if (isBad(point)) line.bad += count;
    }
  }
  return [...lines.values()].filter(({ requests }) => requests > 0);
}

/** The time above which a response is slow: stable's percentile in these points, in s. Undefined where too few are timed. */
export function slowLimitS(points: Points, { service, above }: { service: string; above: number }): number | undefined {
  const totals = new Map<number, number>();
  for (const point of stableTimes(points, service)) {
    for (const [index, count] of point.buckets.entries()) {
      const bound = point.bounds[index] ?? Number.POSITIVE_INFINITY;
      totals.set(bound, (totals.get(bound) ?? 0) + count);
    }
  }
  const all = timedIn(points, { service });
  if (all < LEAST_TIMED) return undefined;
  let below = 0;
  for (const [bound, count] of [...totals].toSorted(([a], [b]) => a - b)) {
    below += count;
    if (below >= above * all) return bound;
  }
  return undefined;
}

/** How many responses of the stable arm are timed in these points. */
export function timedIn(points: Points, { service }: { service: string }): number {
  return stableTimes(points, service).reduce((sum, { count }) => sum + count, 0);
}

function stableTimes(points: Points, service: string) {
  return points
    .filter((point) => point.type === 'histogram')
    .filter((point) => isDrawn(point, service) && point.attributes.track !== 'canary');
}

/** What was timed between two reads. */
export function durationsSince(before: Points, now: Points): Points {
  const known = new Map(before.filter(({ name }) => name === DURATIONS).map((point) => [identityOf(point), point]));
  return now.flatMap((point) => {
    if (point.name !== DURATIONS || point.type !== 'histogram') return [];
    const earlier = known.get(identityOf(point));
    if (earlier?.type !== 'histogram') return [point];
    const buckets = point.buckets.map((count, index) => count - (earlier.buckets[index] ?? 0));
    return [{ ...point, count: point.count - earlier.count, buckets }];
  });
}

/** Outcomes of a service by all its callers, whatever they were drawn from: the level before a rollout is the difference of two. */
export function totalsOf(points: Points, service: string): { readonly requests: number; readonly bad: number } {
  const own = points.filter(
    (point) => point.name === ATTEMPTS && point.attributes.service === service && point.attributes.attempt === 'first',
  );
  const sum = (some: Points) =>
    some.reduce((total, point) => total + (point.type === 'histogram' ? 0 : point.value), 0);
  return { requests: sum(own), bad: sum(own.filter(isBad)) };
}

/** Why these points are not all evidence: processes of callers that are silent, and series that were dropped. */
export function missingIn(points: Points, callers: readonly string[]): readonly string[] {
  const reporting = new Set(points.filter(({ stale }) => !stale).map(({ instance }) => instance));
  const overflown = points.filter(
    ({ name, attributes }) => name === ATTEMPTS && attributes['otel.metric.overflow'] === true,
  );
  return [
    ...callers.filter((caller) => !reporting.has(caller)).map((caller) => `${caller} reports nothing`),
    ...overflown.map(({ instance }) => `${instance} has more series than it keeps`),
  ];
}

function isDrawn({ name, attributes }: MetricPoint, service: string): boolean {
  const isOurs = name === ATTEMPTS ? attributes.attempt === 'first' : name === DURATIONS;
  return isOurs && attributes.service === service && attributes.share !== undefined;
}

/** An outcome of a newer caller, which is unknown here, is not taken for good. */
function isBad({ attributes }: MetricPoint): boolean {
  return (attemptOutcomes as Readonly<Record<string, string>>)[String(attributes.outcome)] !== 'good';
}

function slowIn(point: MetricPoint, aboveS: number): number {
  if (point.type !== 'histogram') return 0;
  return point.buckets.reduce((sum, count, index) => {
    const from = index === 0 ? 0 : (point.bounds[index - 1] ?? Number.POSITIVE_INFINITY);
    return from >= aboveS ? sum + count : sum;
  }, 0);
}

/** One process counts a series from one time on. */
function identityOf({ name, instance, startTime, attributes }: MetricPoint): string {
  return JSON.stringify([name, instance, startTime, Object.entries(attributes).toSorted()]);
}
