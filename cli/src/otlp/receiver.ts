import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Guest, GuestResponse } from './guest.ts';
import type { JaegerRelay } from './jaeger-relay.ts';
import { refusalOf } from './local-request.ts';
import { createLogStore, type LogLimits, type LogStore } from './log-store.ts';
import { createMetricStore, type MetricLimits, type MetricStore } from './metric-store.ts';

import type { LogsData, MetricsData, TracesData } from './otlp-json.ts';
import { prometheusContentType, prometheusText } from './prometheus-text.ts';
import { BadExportError, readExport } from './request-body.ts';
import { createTraceStore, type TraceLimits, type TraceStore } from './trace-store.ts';

export interface ReceiverLimits extends TraceLimits, MetricLimits, LogLimits {
  /** Largest export, in bytes after decompression. */
  readonly maxBodyBytes: number;
}

/** What the audit compares with all orders (I11): a restarted process has counted some of them. */
export const lastingNames: ReadonlySet<string> = new Set(['shop.sagas', 'shop.saga.duration', 'shop.saga.recoveries']);

/** What the supervisor affords: about 3,000 orders of 31 spans, and their log lines. */
const defaultReceiverLimits: ReceiverLimits = {
  maxTraceBytes: 64 * 1024 ** 2,
  maxSpansPerTrace: 2_000,
  maxEvictions: 20_000,
  maxSeries: 20_000,
  maxInstances: 200,
  lastingNames,
  maxEndedInstances: 2_000,
  staleAfterMs: 3_500,
  maxLogBytes: 16 * 1024 ** 2,
  maxBodyBytes: 16 * 1024 ** 2,
};

export interface ReceiverOptions {
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
  readonly limits?: Partial<ReceiverLimits>;
  /** ms since 1970. */
  readonly now?: () => number;
}

export interface OtlpReceiver extends AsyncDisposable {
  /** Base URL, for OTEL_EXPORTER_OTLP_ENDPOINT and for readers. */
  readonly url: string;
  readonly traces: TraceStore;
  readonly metrics: MetricStore;
  /** Give it the services' output lines (`logs.addLine`), whether or not they export them over OTLP. */
  readonly logs: LogStore;
  /** From now on spans are passed on to this Jaeger too, and it serves `/api/v3/`. */
  relay(jaeger: JaegerRelay): void;
  /** Serves these routes too, also while telemetry is unavailable: alerts are no telemetry. */
  serve(guest: Guest): void;
  /** While it is unavailable every telemetry connection is closed, open ones too; the stores keep what they have. */
  setUnavailable(isUnavailable: boolean): void;
  close(): Promise<void>;
}

/** A route's response: status and JSON body, or text of another type. */
interface RouteResult {
  readonly status: number;
  readonly body: unknown;
  /** The body is text of this type. */
  readonly contentType?: string;
}

interface Stores {
  readonly traces: TraceStore;
  readonly metrics: MetricStore;
  readonly logs: LogStore;
  readonly now: () => number;
  jaeger?: JaegerRelay;
}

/**
 * Receives OTLP/HTTP JSON (`POST /v1/traces|metrics|logs`) and serves Jaeger's `/api/v3/traces/{id}`,
 * `/api/v3/traces?query.service_name=` and `/api/v3/services`, and `/api/traces/{id}`, `/api/traces?idPrefix=`,
 * `/api/metrics`, `/api/logs?traceId=`, `/api/stats`. `GET /metrics` is for Prometheus. Memory is bounded by `limits`. Web pages are
 * refused: what is stored is evidence. Rejects when the port is not free. Side effects: one listening socket.
 */
export async function startOtlpReceiver(options: ReceiverOptions): Promise<OtlpReceiver> {
  const limits: ReceiverLimits = { ...defaultReceiverLimits, ...options.limits };
  const stores: Stores = {
    traces: createTraceStore(limits),
    metrics: createMetricStore(limits),
    logs: createLogStore(limits),
    now: options.now ?? Date.now,
  };
  let isOut = false;
  let guest: Guest | undefined;
  const server = createServer((request, response) => {
    const guestResponse = refusalOf(request.headers) === undefined ? guest?.(request) : undefined;
    if (guestResponse) void respondForGuest(request, response, guestResponse);
    else if (isOut) request.socket.destroy();
    else void respond(request, response, stores, limits.maxBodyBytes);
  });
  await listen(server, options.port, options.host);
  const { address, port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve, reject) => {
      server.close((error) => (error === undefined ? resolve() : reject(error)));
      server.closeAllConnections();
    });
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
    traces: stores.traces,
    metrics: stores.metrics,
    logs: stores.logs,
    relay(jaeger) {
      stores.jaeger = jaeger;
    },
    serve(routes) {
      guest = routes;
    },
    setUnavailable(isUnavailable) {
      isOut = isUnavailable;
      if (isUnavailable) server.closeAllConnections();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  stores: Stores,
  maxBodyBytes: number,
): Promise<void> {
  let result: RouteResult;
  try {
    const refusal = refusalOf(request.headers);
    if (refusal) result = { status: refusal.status, body: { code: 7, message: refusal.message } };
    else result = request.method === 'POST' ? await take(request, stores, maxBodyBytes) : await read(request, stores);
  } catch (error) {
    result = failure(error);
  }
  // What is left of a refused body would be read as the next request.
  if (!request.complete) response.setHeader('connection', 'close');
  const { contentType = 'application/json' } = result;
  const body = result.contentType === undefined ? JSON.stringify(result.body) : String(result.body);
  response.writeHead(result.status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

async function respondForGuest(
  request: IncomingMessage,
  response: ServerResponse,
  responding: Promise<GuestResponse>,
): Promise<void> {
  let result: GuestResponse;
  try {
    result = await responding;
  } catch (error) {
    // A client that has disconnected reads no response; it is the same to another one as a failure of ours.
    const body = JSON.stringify(error instanceof Error ? error.message : String(error));
    result = { status: 500, body, contentType: 'application/json' };
  }
  if (!request.complete) response.setHeader('connection', 'close');
  const { status, body, contentType, headers = {} } = result;
  const type = contentType === undefined ? {} : { 'content-type': contentType };
  response.writeHead(status, { ...headers, ...type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** OTLP wants a google.rpc.Status; 3 is INVALID_ARGUMENT, 7 PERMISSION_DENIED, 13 INTERNAL. */
function failure(error: unknown): RouteResult {
  if (error instanceof BadExportError) return { status: error.status, body: { code: 3, message: error.message } };
  const message = error instanceof Error ? error.message : String(error);
  return { status: 500, body: { code: 13, message: `the export could not be stored: ${message}` } };
}

async function take(request: IncomingMessage, stores: Stores, maxBodyBytes: number): Promise<RouteResult> {
  const store = exportRoutes[pathOf(request)];
  if (store === undefined) return notFound(`no such route: POST ${pathOf(request)}`);
  return { status: 200, body: store(await readExport(request, maxBodyBytes), stores) };
}

const exportRoutes: Readonly<Record<string, (body: object, stores: Stores) => unknown>> = {
  '/v1/traces': (body, { traces, now, jaeger }) => {
    jaeger?.forward(body as TracesData);
    const rejectedSpans = traces.add(body as TracesData, now());
    if (rejectedSpans === 0) return {};
    return { partialSuccess: { rejectedSpans, errorMessage: 'trace and span ids are lower-case hexadecimal' } };
  },
  '/v1/metrics': (body, { metrics, now }) => {
    const rejectedDataPoints = metrics.add(body as MetricsData, now());
    if (rejectedDataPoints === 0) return {};
    const errorMessage = 'only cumulative values: OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=cumulative';
    return { partialSuccess: { rejectedDataPoints, errorMessage } };
  },
  '/v1/logs': (body, { logs }) => {
    logs.add(body as LogsData);
    return {};
  },
};

async function read(request: IncomingMessage, stores: Stores): Promise<RouteResult> {
  if (stores.jaeger && request.url?.startsWith('/api/v3/')) return stores.jaeger.read(request.url);
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const path = pathOf(request);
  // Without /v3 it is our own store's, also while Jaeger serves traces.
  const traceId = /^\/api\/(?:v3\/)?traces\/([^/]+)$/.exec(path)?.[1];
  if (traceId !== undefined) return readTrace(traceId.toLowerCase(), stores.traces);
  if (path === '/metrics') {
    const body = prometheusText(stores.metrics.reports(), stores.now());
    return { status: 200, body, contentType: prometheusContentType };
  }
  const route = readRoutes[path];
  return route === undefined
    ? notFound(`no such route: GET ${path}`)
    : { status: 200, body: route(searchParams, stores) };
}

const readRoutes: Readonly<Record<string, (query: URLSearchParams, stores: Stores) => unknown>> = {
  '/api/v3/services': (_query, { traces }) => ({ services: traces.services() }),
  '/api/v3/traces': (query, { traces }) => {
    const limit = Number(query.get('query.search_depth') ?? query.get('query.num_traces') ?? 20) || 20;
    const ids = traces.find(query.get('query.service_name') ?? '', limit);
    return { result: { resourceSpans: ids.flatMap((id) => traces.get(id)?.resourceSpans ?? []) } };
  },
  '/api/traces': (query, { traces }) => ({
    traceIds: traces.idsWith((query.get('idPrefix') ?? '').toLowerCase(), 20),
  }),
  '/api/metrics': (query, { metrics, now }) => {
    const service = query.get('service') ?? undefined;
    return { now: now(), metrics: metrics.points({ names: query.getAll('name'), service }, now()) };
  },
  '/api/logs': (query, { logs }) => ({ logs: logs.ofTrace((query.get('traceId') ?? '').toLowerCase()) }),
  '/api/stats': (_query, { traces, metrics, logs }) => ({
    traces: traces.stats(),
    metrics: metrics.stats(),
    logs: logs.stats(),
  }),
};

function readTrace(traceId: string, traces: TraceStore): RouteResult {
  const trace = traces.get(traceId);
  if (trace === undefined) return notFound(traces.wasEvicted(traceId) ? 'Trace was evicted' : 'No traces found');
  const { resourceSpans, truncatedSpans, isFragment } = trace;
  const limits = { ...(truncatedSpans > 0 && { truncatedSpans }), ...(isFragment && { isFragment }) };
  return { status: 200, body: { result: { resourceSpans }, ...limits } };
}

/** As Jaeger's HTTP gateway says it. */
function notFound(message: string): RouteResult {
  return { status: 404, body: { error: { httpCode: 404, message } } };
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}
