import { CliError, messageOf } from '../errors.ts';
import type { LogRecord } from '../otlp/log-store.ts';
import type { MetricPoint, MetricStats } from '../otlp/metric-store.ts';
import type { TracesData } from '../otlp/otlp-json.ts';
import { readSpans, type TraceSpan } from './tree.ts';

/** A trace as a backend holds it now; later spans may follow. */
export interface RecordedTrace {
  /** Empty when the backend does not know the trace. */
  readonly spans: readonly TraceSpan[];
  /** Why the backend cannot have all of it, undefined when it can. */
  readonly incomplete: string | undefined;
}

export interface TraceBackend {
  /** Throws CliError (4) when the backend cannot be reached or responds with an error. */
  trace(traceId: string): Promise<RecordedTrace>;
}

/** What else the built-in store has. */
export interface TelemetryBackend extends TraceBackend {
  /** Latest points, of these names only. Throws CliError (4). */
  metrics(names: readonly string[]): Promise<readonly MetricPoint[]>;
  /** Log records of a trace in order of time. Throws CliError (4). */
  logs(traceId: string): Promise<readonly LogRecord[]>;
}

/** Metrics with the store's own bookkeeping. */
export interface MetricSource extends Pick<TelemetryBackend, 'metrics'> {
  /** What the metric store took, and what it had no room for. Throws CliError (4). */
  metricStats(): Promise<MetricStats>;
}

/** Finds what is stored. */
export interface TraceIndex {
  /** Ids of stored traces that begin with these hexadecimal digits, at most 20. Throws CliError (4). */
  traceIds(prefix: string): Promise<readonly string[]>;
}

/** Longest wait for one response, in ms. */
const TIMEOUT_MS = 5_000;

/**
 * Reads the supervisor's own stores, also while a Jaeger serves `/api/v3/`: what is on its way to Jaeger, or was
 * dropped on it, is in no process's accounts. A trace that the store has let go of is read from Jaeger, and may not be
 * whole.
 */
export function createBackend(baseUrl: string): TelemetryBackend & MetricSource & TraceIndex {
  return {
    async trace(traceId) {
      const own = await get(baseUrl, `/api/traces/${encodeURIComponent(traceId)}`);
      if (own.status !== 404) return traceIn(baseUrl, own);
      const incomplete = evictionOf(own.body);
      if (incomplete === undefined) return { spans: [], incomplete };
      return { ...(await createJaegerBackend(baseUrl).trace(traceId)), incomplete };
    },
    async traceIds(prefix) {
      const response = await get(baseUrl, `/api/traces?idPrefix=${encodeURIComponent(prefix)}`);
      return (expectOk(baseUrl, response) as { traceIds: string[] }).traceIds;
    },
    async metrics(names) {
      const query = new URLSearchParams(names.map((name): [string, string] => ['name', name]));
      const response = await get(baseUrl, `/api/metrics?${query}`);
      return (expectOk(baseUrl, response) as { metrics: MetricPoint[] }).metrics;
    },
    async metricStats() {
      const response = await get(baseUrl, '/api/stats');
      return (expectOk(baseUrl, response) as { metrics: MetricStats }).metrics;
    },
    async logs(traceId) {
      const response = await get(baseUrl, `/api/logs?traceId=${encodeURIComponent(traceId)}`);
      return (expectOk(baseUrl, response) as { logs: LogRecord[] }).logs;
    },
  };
}

/** Reads traces from a Jaeger 2 at its query address. */
export function createJaegerBackend(baseUrl: string): TraceBackend {
  return {
    async trace(traceId) {
      const response = await get(baseUrl, `/api/v3/traces/${encodeURIComponent(traceId)}`);
      return response.status === 404 ? { spans: [], incomplete: undefined } : traceIn(baseUrl, response);
    },
  };
}

function traceIn(baseUrl: string, response: BackendResponse): RecordedTrace {
  const { result, truncatedSpans, isFragment } = expectOk(baseUrl, response) as {
    result?: TracesData;
    truncatedSpans?: number;
    isFragment?: boolean;
  };
  const reasons = [
    ...(truncatedSpans ? [`${truncatedSpans} spans beyond the store's limit were not kept`] : []),
    ...(isFragment ? ['it may be the rest of a trace that was evicted long ago'] : []),
  ];
  return { spans: readSpans(result ?? {}), incomplete: reasons.length > 0 ? reasons.join('; ') : undefined };
}

interface BackendResponse {
  readonly status: number;
  readonly body: unknown;
}

async function get(baseUrl: string, path: string): Promise<BackendResponse> {
  try {
    const response = await fetch(new URL(path, baseUrl), { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  } catch (cause) {
    const why = cause instanceof TypeError && cause.cause !== undefined ? messageOf(cause.cause) : messageOf(cause);
    throw unreachable(baseUrl, why, cause);
  }
}

function expectOk(baseUrl: string, { status, body }: BackendResponse): unknown {
  if (status === 200) return body;
  throw unreachable(baseUrl, `it responded ${status}`);
}

function unreachable(baseUrl: string, why: string, cause?: unknown): CliError {
  return new CliError({
    code: 'telemetry_unreachable',
    what: `cannot read telemetry from ${baseUrl}`,
    why,
    next: 'see `shopctl status`; `shopctl up` starts what is missing',
    cause,
  });
}

function evictionOf(body: unknown): string | undefined {
  const message = (body as { error?: { message?: string } } | null)?.error?.message;
  return message === 'Trace was evicted' ? 'the trace was evicted to make room for newer ones' : undefined;
}
