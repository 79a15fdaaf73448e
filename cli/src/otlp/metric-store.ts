import {
  type AttributeMap,
  type HistogramPoint,
  type MetricsData,
  type NumberPoint,
  nanosToMs,
  type OtlpMetric,
  plainAttributes,
  type Source,
  sourceOf,
} from './otlp-json.ts';

export interface MetricLimits {
  /** Series kept; new ones beyond it are counted and not kept. */
  readonly maxSeries: number;
  /** Processes remembered with all their series; beyond it those that ended first keep lasting ones only. */
  readonly maxInstances: number;
  /** Names of metrics whose last values count for as long as the platform runs. */
  readonly lastingNames: ReadonlySet<string>;
  /** Processes remembered by lasting series; beyond it those that ended first are forgotten, which is counted. */
  readonly maxEndedInstances: number;
  /** An instance whose last report is older is stale, in ms. Services report every second. */
  readonly staleAfterMs: number;
}

interface PointBase {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  /** The meter. */
  readonly scope: string;
  readonly attributes: AttributeMap;
  /** ms since 1970: when counting began, and when the value was read in its process. */
  readonly startTime: number;
  readonly time: number;
}

interface NumberSeries extends PointBase {
  readonly type: 'counter' | 'upDownCounter' | 'gauge';
  /** Counters: the total since `startTime`. */
  readonly value: number;
}

/** The time of the first report with the value, or the count, that it has now; ms since 1970, by its process. */
interface Changed {
  readonly changedAt: number;
}

interface HistogramSeries extends PointBase {
  readonly type: 'histogram';
  readonly count: number;
  readonly sum: number;
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly bounds: readonly number[];
  /** One more than `bounds`; not cumulative. */
  readonly buckets: readonly number[];
}

export type Series = NumberSeries | HistogramSeries;

/** The latest point of a series, with its process. */
export type MetricPoint = Series &
  Changed &
  Source & {
    /** ms since 1970. */
    readonly receivedAt: number;
    /** The process does not report any more; the value is its last. */
    readonly stale: boolean;
  };

/** What a process reported last. */
export interface MetricReport {
  readonly source: Source;
  /** The resource's attributes, also those that name the process. */
  readonly resource: AttributeMap;
  readonly series: readonly Series[];
  /** ms since 1970. */
  readonly receivedAt: number;
  /** When it reported first, ms since 1970. */
  readonly firstReceivedAt: number;
  /** A process that began later reported as the same instance when this one was stale. For good: it may go on, as one that was frozen does. */
  readonly isSucceeded: boolean;
}

export interface MetricStats {
  instances: number;
  series: number;
  receivedReports: number;
  refusedSeries: number;
  /** Points of a temporality that is not cumulative. */
  refusedPoints: number;
  /** Processes whose lasting series are gone. */
  forgottenInstances: number;
}

interface Instance {
  readonly source: Source;
  resource: AttributeMap;
  readonly series: Map<string, Series & Changed>;
  receivedAt: number;
  readonly firstReceivedAt: number;
  isSucceeded: boolean;
}

export interface MetricQuery {
  /** Exact names; all when empty. */
  readonly names?: readonly string[];
  readonly service?: string | undefined;
}

export interface MetricStore {
  /** Takes an export request; returns how many points were refused. */
  add(data: MetricsData, receivedAt: number): number;
  /** The same for a process whose request has all it knows: a series that it does not have any more is forgotten. */
  replace(data: MetricsData, receivedAt: number): number;
  points(query: MetricQuery, now: number): MetricPoint[];
  /** Of each process that is remembered, the one that has been silent for longest first. */
  reports(): MetricReport[];
  stats(): Readonly<MetricStats>;
}

/** Latest value of each series of each process, including those of processes that are gone. */
export function createMetricStore(limits: MetricLimits): MetricStore {
  const instances = new Map<string, Instance>();
  /** Those that `instances` has no room for, with lasting series alone. */
  const ended = new Map<string, Instance>();
  const stats: MetricStats = {
    instances: 0,
    series: 0,
    receivedReports: 0,
    refusedSeries: 0,
    refusedPoints: 0,
    forgottenInstances: 0,
  };

  function instanceOf(resource: AttributeMap, receivedAt: number): Instance {
    const source = sourceOf(resource);
    const key = `${source.service} ${source.instance} ${source.pid}`;
    const known = instances.get(key) ?? ended.get(key);
    ended.delete(key);
    const instance = known ?? {
      source,
      resource,
      series: new Map(),
      receivedAt,
      firstReceivedAt: receivedAt,
      isSucceeded: false,
    };
    instance.resource = resource;
    instance.receivedAt = receivedAt;
    succeed(instance);
    // Moved to the end: the first of the map is always the one that has been silent for longest.
    instances.delete(key);
    instances.set(key, instance);
    return instance;
  }

  const isStale = ({ receivedAt }: Instance, now: number) => now - receivedAt > limits.staleAfterMs;

  function succeed({ source, firstReceivedAt, receivedAt }: Instance): void {
    for (const other of instances.values()) {
      if (other.source.service !== source.service || other.source.instance !== source.instance) continue;
      if (other.firstReceivedAt < firstReceivedAt && isStale(other, receivedAt)) other.isSucceeded = true;
    }
  }

  function put(instance: Instance, series: Series): void {
    const key = seriesKey(series);
    const before = instance.series.get(key);
    if (before === undefined) {
      if (stats.series >= limits.maxSeries) {
        stats.refusedSeries++;
        return;
      }
      stats.series++;
    }
    const isSame = before !== undefined && numberOf(before) === numberOf(series);
    instance.series.set(key, { ...series, changedAt: isSame ? before.changedAt : series.time });
  }

  function makeRoom(): void {
    for (const [key, instance] of firstBeyond(instances, limits.maxInstances)) {
      instances.delete(key);
      for (const [seriesKey, { name }] of instance.series) {
        if (limits.lastingNames.has(name)) continue;
        instance.series.delete(seriesKey);
        stats.series--;
      }
      if (instance.series.size > 0) ended.set(key, instance);
    }
    for (const [key, { series }] of firstBeyond(ended, limits.maxEndedInstances)) {
      ended.delete(key);
      stats.series -= series.size;
      stats.forgottenInstances++;
    }
  }

  function forgetOthers({ series }: Instance, kept: ReadonlySet<string>): void {
    for (const key of series.keys()) {
      if (kept.has(key)) continue;
      series.delete(key);
      stats.series--;
    }
  }

  function take(
    data: MetricsData,
    receivedAt: number,
    store: (instance: Instance, series: readonly Series[]) => void,
  ): number {
    stats.receivedReports++;
    let refused = 0;
    for (const { resource, scopeMetrics } of data.resourceMetrics ?? []) {
      const instance = instanceOf(plainAttributes(resource?.attributes), receivedAt);
      const series: Series[] = [];
      for (const { scope, metrics } of scopeMetrics ?? []) {
        for (const metric of metrics ?? []) {
          if (isDelta(metric)) refused++;
          else series.push(...seriesOf(metric, scope?.name ?? ''));
        }
      }
      store(instance, series);
    }
    stats.refusedPoints += refused;
    makeRoom();
    return refused;
  }

  return {
    add: (data, receivedAt) =>
      take(data, receivedAt, (instance, series) => {
        for (const one of series) put(instance, one);
      }),
    replace: (data, receivedAt) =>
      take(data, receivedAt, (instance, series) => {
        forgetOthers(instance, new Set(series.map(seriesKey)));
        for (const one of series) put(instance, one);
      }),
    points({ names = [], service }, now) {
      const wanted = new Set(names);
      const points: MetricPoint[] = [];
      for (const instance of [...ended.values(), ...instances.values()]) {
        const { source, series, receivedAt } = instance;
        if (service !== undefined && source.service !== service) continue;
        const stale = isStale(instance, now);
        for (const one of series.values()) {
          if (wanted.size === 0 || wanted.has(one.name)) points.push({ ...one, ...source, receivedAt, stale });
        }
      }
      return points;
    },
    reports() {
      return [...instances.values()].map(({ series, ...instance }) => ({ ...instance, series: [...series.values()] }));
    },
    stats: () => ({ ...stats, instances: instances.size }),
  };
}

/** Those of a map that are beyond its limit, the first of it. */
function firstBeyond<V>(map: ReadonlyMap<string, V>, limit: number): [string, V][] {
  return map.size <= limit ? [] : [...map].slice(0, map.size - limit);
}

function seriesKey({ scope, name, attributes }: Series): string {
  return `${scope} ${name} ${JSON.stringify(attributes)}`;
}

function numberOf(series: Series): number {
  return series.type === 'histogram' ? series.count : series.value;
}

function isDelta({ sum, histogram }: OtlpMetric): boolean {
  const temporality = sum?.aggregationTemporality ?? histogram?.aggregationTemporality;
  return temporality === 1 || temporality === 'AGGREGATION_TEMPORALITY_DELTA';
}

function seriesOf(metric: OtlpMetric, scope: string): Series[] {
  const { name, unit = '', description = '' } = metric;
  const base = (point: NumberPoint | HistogramPoint) => ({
    name,
    unit,
    description,
    scope,
    attributes: plainAttributes(point.attributes),
    startTime: nanosToMs(point.startTimeUnixNano),
    time: nanosToMs(point.timeUnixNano),
  });
  const number = (type: NumberSeries['type']) => (point: NumberPoint) => ({
    ...base(point),
    type,
    value: Number(point.asInt ?? point.asDouble ?? 0),
  });
  if (metric.gauge) return (metric.gauge.dataPoints ?? []).map(number('gauge'));
  if (metric.sum) {
    return (metric.sum.dataPoints ?? []).map(number(metric.sum.isMonotonic ? 'counter' : 'upDownCounter'));
  }
  return (metric.histogram?.dataPoints ?? []).map((point) => ({
    ...base(point),
    type: 'histogram' as const,
    count: Number(point.count ?? 0),
    sum: point.sum ?? 0,
    min: point.min,
    max: point.max,
    bounds: point.explicitBounds ?? [],
    buckets: (point.bucketCounts ?? []).map(Number),
  }));
}
