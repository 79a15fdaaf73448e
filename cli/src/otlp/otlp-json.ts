/** The parts of OTLP/JSON (opentelemetry-proto 1.x) that are read here. Everything is optional: senders differ. */
export interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values?: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values?: readonly KeyValue[] };
  readonly bytesValue?: string;
}

export interface KeyValue {
  readonly key: string;
  readonly value?: AnyValue;
}

/** An attribute's value as plain data. */
export type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value };
export type AttributeMap = { readonly [key: string]: Value };

export interface OtlpResource {
  readonly attributes?: readonly KeyValue[];
}

export interface OtlpScope {
  readonly name?: string;
  readonly version?: string;
}

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer; some senders write the enum's name. */
  readonly kind?: number | string;
  readonly startTimeUnixNano?: string | number;
  readonly endTimeUnixNano?: string | number;
  readonly attributes?: readonly KeyValue[];
  readonly events?: readonly unknown[];
  readonly links?: readonly unknown[];
  readonly status?: { readonly code?: number | string; readonly message?: string };
}

export interface ScopeSpans {
  readonly scope?: OtlpScope;
  readonly spans?: readonly OtlpSpan[];
}

export interface ResourceSpans {
  readonly resource?: OtlpResource;
  readonly scopeSpans?: readonly ScopeSpans[];
}

export interface TracesData {
  readonly resourceSpans?: readonly ResourceSpans[];
}

export interface NumberPoint {
  readonly attributes?: readonly KeyValue[];
  readonly startTimeUnixNano?: string | number;
  readonly timeUnixNano?: string | number;
  readonly asInt?: string | number;
  readonly asDouble?: number;
}

export interface HistogramPoint {
  readonly attributes?: readonly KeyValue[];
  readonly startTimeUnixNano?: string | number;
  readonly timeUnixNano?: string | number;
  readonly count?: string | number;
  readonly sum?: number;
  readonly min?: number;
  readonly max?: number;
  readonly explicitBounds?: readonly number[];
  readonly bucketCounts?: readonly (string | number)[];
}

export interface OtlpMetric {
  readonly name: string;
  readonly unit?: string;
  readonly description?: string;
  readonly gauge?: { readonly dataPoints?: readonly NumberPoint[] };
  readonly sum?: {
    readonly dataPoints?: readonly NumberPoint[];
    readonly isMonotonic?: boolean;
    readonly aggregationTemporality?: number | string;
  };
  readonly histogram?: {
    readonly dataPoints?: readonly HistogramPoint[];
    readonly aggregationTemporality?: number | string;
  };
}

export interface MetricsData {
  readonly resourceMetrics?: readonly {
    readonly resource?: OtlpResource;
    readonly scopeMetrics?: readonly { readonly scope?: OtlpScope; readonly metrics?: readonly OtlpMetric[] }[];
  }[];
}

export interface OtlpLogRecord {
  readonly timeUnixNano?: string | number;
  readonly severityText?: string;
  readonly body?: AnyValue;
  readonly attributes?: readonly KeyValue[];
  readonly traceId?: string;
  readonly spanId?: string;
}

export interface LogsData {
  readonly resourceLogs?: readonly {
    readonly resource?: OtlpResource;
    readonly scopeLogs?: readonly { readonly scope?: OtlpScope; readonly logRecords?: readonly OtlpLogRecord[] }[];
  }[];
}

/** An OTLP value as plain data; 64-bit integers beyond 2^53 lose precision. */
export function plainValue(value: AnyValue | undefined): Value {
  if (value === undefined) return '';
  if (value.stringValue !== undefined) return value.stringValue;
  if (value.intValue !== undefined) return Number(value.intValue);
  if (value.doubleValue !== undefined) return value.doubleValue;
  if (value.boolValue !== undefined) return value.boolValue;
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(plainValue);
  if (value.kvlistValue !== undefined) return plainAttributes(value.kvlistValue.values);
  return value.bytesValue ?? '';
}

/** A list of key-value pairs as one object. */
export function plainAttributes(attributes: readonly KeyValue[] | undefined): AttributeMap {
  return Object.fromEntries((attributes ?? []).map(({ key, value }) => [key, plainValue(value)]));
}

/** Plain data as an OTLP value. */
function otlpValue(value: Value): AnyValue {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(otlpValue) } };
  return { kvlistValue: { values: otlpAttributes(value as AttributeMap) } };
}

/** An object as a list of key-value pairs. */
export function otlpAttributes(attributes: AttributeMap): KeyValue[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: otlpValue(value) }));
}

/** Nanoseconds since 1970 as ms. */
export function nanosToMs(nanos: string | number | undefined): number {
  return Number(nanos ?? 0) / 1e6;
}

/** Which process a resource stands for. */
export interface Source {
  readonly service: string;
  readonly instance: string;
  readonly pid: number | undefined;
  /** When the process began, ms since 1970 by its clock; left out where it does not say. */
  readonly createdAt?: number;
}

export function sourceOf(attributes: AttributeMap): Source {
  const service = String(attributes['service.name'] ?? 'unknown_service');
  const pid = attributes['process.pid'];
  const createdAt = Date.parse(String(attributes['process.creation.time']));
  return {
    service,
    instance: String(attributes['service.instance.id'] ?? service),
    pid: typeof pid === 'number' ? pid : undefined,
    ...(!Number.isNaN(createdAt) && { createdAt }),
  };
}
