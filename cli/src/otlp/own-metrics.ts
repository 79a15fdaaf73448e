import { type AttributeMap, type MetricsData, type OtlpMetric, otlpAttributes } from './otlp-json.ts';

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

/** A report as a process sends it: its resource, and the metrics of one meter. */
export function reportOf(resource: AttributeMap, meter: string, metrics: readonly OtlpMetric[]): MetricsData {
  const scopeMetrics = [{ scope: { name: meter }, metrics }];
  return { resourceMetrics: [{ resource: { attributes: otlpAttributes(resource) }, scopeMetrics }] };
}

function nowNanos(): string {
  return `${Date.now()}000000`;
}
