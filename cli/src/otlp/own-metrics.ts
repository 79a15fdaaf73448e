import {
  type AttributeMap,
  type HistogramPoint,
  type MetricsData,
  type OtlpMetric,
  otlpAttributes,
} from './otlp-json.ts';

/** What an instrument is called and counted in. */
export interface Instrument {
  readonly unit: string;
  readonly description: string;
}

/** One value with its tags. */
export interface TaggedValue {
  readonly value: number;
  readonly attributes?: AttributeMap;
}

/** A gauge with these values now; one without a value is absent from the report. */
export function gaugeOf(name: string, { unit, description }: Instrument, values: readonly TaggedValue[]): OtlpMetric {
  const timeUnixNano = nowNanos();
  const dataPoints = values.map(({ value, attributes = {} }) => {
    return { asDouble: value, timeUnixNano, attributes: otlpAttributes(attributes) };
  });
  return { name, unit, description, gauge: { dataPoints } };
}

/** Values since the process began, by the bounds of a histogram. */
export interface Distribution {
  record(value: number): void;
  readonly point: HistogramPoint;
}

export function createDistribution(bounds: readonly number[]): Distribution {
  const startTimeUnixNano = nowNanos();
  const buckets = Array.from({ length: bounds.length + 1 }, () => 0);
  let sum = 0;
  return {
    record(value) {
      const index = bounds.findIndex((bound) => value <= bound);
      const bucket = index === -1 ? bounds.length : index;
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
      sum += value;
    },
    get point() {
      const count = buckets.reduce((total, one) => total + one, 0);
      return {
        startTimeUnixNano,
        timeUnixNano: nowNanos(),
        count,
        sum,
        explicitBounds: bounds,
        bucketCounts: [...buckets],
        attributes: [],
      };
    },
  };
}

/** A histogram with one series, without tags. */
export function histogramOf(name: string, { unit, description }: Instrument, { point }: Distribution): OtlpMetric {
  return { name, unit, description, histogram: { aggregationTemporality: CUMULATIVE, dataPoints: [point] } };
}

/** Source: opentelemetry-proto, AggregationTemporality. */
const CUMULATIVE = 2;

/** A report as a process sends it: its resource, and the metrics of one meter. */
export function reportOf(resource: AttributeMap, meter: string, metrics: readonly OtlpMetric[]): MetricsData {
  const scopeMetrics = [{ scope: { name: meter }, metrics }];
  return { resourceMetrics: [{ resource: { attributes: otlpAttributes(resource) }, scopeMetrics }] };
}

function nowNanos(): string {
  return `${Date.now()}000000`;
}
