import { createInterner } from './interner.ts';
import {
  type AttributeMap,
  type OtlpScope,
  type OtlpSpan,
  otlpAttributes,
  plainAttributes,
  plainValue,
  type ResourceSpans,
  type Source,
  sourceOf,
  type TracesData,
  type Value,
} from './otlp-json.ts';

export interface TraceLimits {
  /** Estimated bytes of all spans; the oldest traces are evicted beyond it. */
  readonly maxTraceBytes: number;
  /** Spans kept of one trace; further ones are counted and not kept. */
  readonly maxSpansPerTrace: number;
  /** Evicted ids that are remembered, so that a late span does not bring a fragment of its trace back. */
  readonly maxEvictions: number;
}

/** A span in little memory: attributes lie flat (key, value, key, value, ...), shared texts are held once. */
interface StoredSpan {
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number | string;
  readonly start: string;
  readonly end: string;
  readonly statusCode: number | string;
  readonly statusMessage: string;
  readonly attributes: readonly Value[];
  readonly events: readonly unknown[] | undefined;
  readonly links: readonly unknown[] | undefined;
  readonly origin: Origin;
}

/** The process and library that made a span; shared by its spans. */
interface Origin {
  readonly resource: AttributeMap;
  readonly source: Source;
  readonly scope: OtlpScope;
}

interface StoredTrace {
  readonly spans: Map<string, StoredSpan>;
  bytes: number;
  /** Spans that were not kept because the trace had reached its limit. */
  truncated: number;
  /** ms since 1970. */
  lastReceivedAt: number;
}

export interface TraceStats {
  traces: number;
  spans: number;
  bytes: number;
  receivedSpans: number;
  duplicateSpans: number;
  truncatedSpans: number;
  evictedTraces: number;
  /** Spans whose trace had been evicted before. */
  lateSpans: number;
  invalidSpans: number;
}

export interface FoundTrace {
  readonly resourceSpans: ResourceSpans[];
  readonly truncatedSpans: number;
  /** Its older spans may have been evicted so long ago that the store does not remember it. */
  readonly isFragment: boolean;
  /** ms since 1970. */
  readonly lastReceivedAt: number;
}

export interface TraceStore {
  /** Takes an export request; returns how many spans were refused because they are not valid. */
  add(data: TracesData, receivedAt: number): number;
  /** Undefined when the trace is not held. */
  get(traceId: string): FoundTrace | undefined;
  /** True when the trace was held once and had to make room. */
  wasEvicted(traceId: string): boolean;
  services(): string[];
  /** Ids of the newest traces that have a span of the service, newest first. */
  find(service: string, limit: number): string[];
  /** Ids that begin with this, newest first. */
  idsWith(prefix: string, limit: number): string[];
  stats(): Readonly<TraceStats>;
}

/** Estimated bytes of a stored span besides attributes and events, measured over 78,000 spans: object, ids, Map entry. */
const SPAN_BYTES = 560;
const SLOT_BYTES = 16;
/** Traces in bounded memory. A span id is kept once per trace; late spans join their trace. */
export function createTraceStore(limits: TraceLimits): TraceStore {
  const traces = new Map<string, StoredTrace>();
  const evicted = new Map<string, number>();
  /** When the newest of the traces whose eviction is no longer remembered last received a span, ms since 1970. */
  let forgottenUntil: number | undefined;
  const services = new Set<string>();
  const origins = new Map<string, Origin>();
  const intern = createInterner(20_000);
  const stats: TraceStats = {
    traces: 0,
    spans: 0,
    bytes: 0,
    receivedSpans: 0,
    duplicateSpans: 0,
    truncatedSpans: 0,
    evictedTraces: 0,
    lateSpans: 0,
    invalidSpans: 0,
  };

  function originOf(resource: AttributeMap, scope: OtlpScope): Origin {
    const key = JSON.stringify([resource, scope]);
    const known = origins.get(key);
    if (known !== undefined) return known;
    // Restarts make new ones (process.pid); spans keep theirs alive for as long as they need it.
    if (origins.size >= 2_000) origins.clear();
    const origin: Origin = { resource, source: sourceOf(resource), scope };
    origins.set(key, origin);
    services.add(origin.source.service);
    return origin;
  }

  function addSpan(span: OtlpSpan, origin: Origin, receivedAt: number): void {
    stats.receivedSpans++;
    if (evicted.has(span.traceId)) {
      stats.lateSpans++;
      return;
    }
    const trace = traces.get(span.traceId) ?? createTrace(span.traceId);
    trace.lastReceivedAt = receivedAt;
    if (trace.spans.has(span.spanId)) {
      stats.duplicateSpans++;
      return;
    }
    if (trace.spans.size >= limits.maxSpansPerTrace) {
      trace.truncated++;
      stats.truncatedSpans++;
      return;
    }
    const [stored, bytes] = compact(span, origin, intern);
    trace.spans.set(span.spanId, stored);
    trace.bytes += bytes;
    stats.bytes += bytes;
    stats.spans++;
  }

  function createTrace(traceId: string): StoredTrace {
    const trace: StoredTrace = { spans: new Map(), bytes: 0, truncated: 0, lastReceivedAt: 0 };
    traces.set(traceId, trace);
    return trace;
  }

  function makeRoom(): void {
    for (const [traceId, trace] of traces) {
      if (stats.bytes <= limits.maxTraceBytes) return;
      traces.delete(traceId);
      stats.bytes -= trace.bytes;
      stats.spans -= trace.spans.size;
      stats.evictedTraces++;
      rememberEviction(traceId, trace.lastReceivedAt);
    }
  }

  function rememberEviction(traceId: string, lastReceivedAt: number): void {
    evicted.set(traceId, lastReceivedAt);
    if (evicted.size <= limits.maxEvictions) return;
    const [oldest] = evicted;
    if (oldest === undefined) return;
    evicted.delete(oldest[0]);
    forgottenUntil = Math.max(forgottenUntil ?? 0, oldest[1]);
  }

  /** Once an eviction is forgotten, a trace without its first span, or one as old as that, may have been evicted before. */
  function isFragment(spans: readonly StoredSpan[]): boolean {
    if (forgottenUntil === undefined) return false;
    const until = BigInt(forgottenUntil) * 1_000_000n;
    return spans.every(({ parentSpanId }) => parentSpanId !== '') || spans.some(({ start }) => BigInt(start) <= until);
  }

  return {
    add(data, receivedAt) {
      let refused = 0;
      for (const { resource, scopeSpans } of data.resourceSpans ?? []) {
        const attributes = plainAttributes(resource?.attributes);
        for (const { scope, spans } of scopeSpans ?? []) {
          const origin = originOf(attributes, { name: scope?.name ?? '', version: scope?.version ?? '' });
          for (const span of spans ?? []) {
            if (isValid(span)) addSpan(span, origin, receivedAt);
            else refused++;
          }
        }
      }
      stats.invalidSpans += refused;
      makeRoom();
      return refused;
    },
    get(traceId) {
      const trace = traces.get(traceId);
      if (trace === undefined) return undefined;
      return {
        resourceSpans: toResourceSpans(traceId, trace.spans.values()),
        truncatedSpans: trace.truncated,
        isFragment: isFragment([...trace.spans.values()]),
        lastReceivedAt: trace.lastReceivedAt,
      };
    },
    wasEvicted: (traceId) => evicted.has(traceId),
    services: () => [...services].sort(),
    find(service, limit) {
      const found: string[] = [];
      for (const [traceId, trace] of [...traces].reverse()) {
        if (found.length >= limit) break;
        if (trace.spans.values().some(({ origin }) => origin.source.service === service)) found.push(traceId);
      }
      return found;
    },
    idsWith: (prefix, limit) =>
      [...traces.keys()]
        .reverse()
        .filter((traceId) => traceId.startsWith(prefix))
        .slice(0, limit),
    stats: () => ({ ...stats, traces: traces.size }),
  };
}

function isValid(span: OtlpSpan): boolean {
  return isHex(span.traceId, 32) && isHex(span.spanId, 16) && typeof span.name === 'string';
}

function isHex(id: unknown, length: number): boolean {
  return typeof id === 'string' && id.length === length && /^[0-9a-f]+$/.test(id);
}

/** The stored form of a span and an estimate of what it holds alone, in bytes. */
function compact(span: OtlpSpan, origin: Origin, intern: (text: string) => string): [StoredSpan, number] {
  let bytes = SPAN_BYTES;
  const attributes: Value[] = [];
  for (const { key, value } of span.attributes ?? []) {
    const plain = plainValue(value);
    attributes.push(intern(key), typeof plain === 'string' ? intern(plain) : plain);
    bytes += SLOT_BYTES + (typeof plain === 'string' ? plain.length / 4 : 0);
  }
  const extras = [span.events, span.links].filter((list) => list !== undefined && list.length > 0);
  if (extras.length > 0) bytes += 3 * JSON.stringify(extras).length;
  const stored: StoredSpan = {
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? '',
    name: intern(span.name),
    kind: span.kind ?? 0,
    start: String(span.startTimeUnixNano ?? 0),
    end: String(span.endTimeUnixNano ?? 0),
    statusCode: span.status?.code ?? 0,
    statusMessage: intern(span.status?.message ?? ''),
    attributes,
    events: span.events?.length ? span.events : undefined,
    links: span.links?.length ? span.links : undefined,
    origin,
  };
  return [stored, bytes];
}

/** Spans as Jaeger groups them: by resource, then by scope. */
function toResourceSpans(traceId: string, spans: Iterable<StoredSpan>): ResourceSpans[] {
  const byResource = Map.groupBy(spans, ({ origin }) => origin.resource);
  return [...byResource].map(([resource, ofResource]) => ({
    resource: { attributes: otlpAttributes(resource) },
    scopeSpans: [...Map.groupBy(ofResource, ({ origin }) => origin.scope)].map(([scope, ofScope]) => ({
      scope,
      spans: ofScope.map((span) => toOtlpSpan(traceId, span)),
    })),
  }));
}

function toOtlpSpan(traceId: string, span: StoredSpan): OtlpSpan {
  const attributes = [];
  for (let index = 0; index < span.attributes.length; index += 2) {
    attributes.push([String(span.attributes[index]), span.attributes[index + 1] as Value]);
  }
  return {
    traceId,
    spanId: span.spanId,
    ...(span.parentSpanId !== '' && { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: span.kind,
    startTimeUnixNano: span.start,
    endTimeUnixNano: span.end,
    attributes: otlpAttributes(Object.fromEntries(attributes)),
    ...(span.events !== undefined && { events: span.events }),
    ...(span.links !== undefined && { links: span.links }),
    status: { code: span.statusCode, ...(span.statusMessage !== '' && { message: span.statusMessage }) },
  };
}
