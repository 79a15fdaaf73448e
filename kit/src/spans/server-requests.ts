import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import {
  type Attributes,
  type Context,
  context,
  type Histogram,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
} from '@opentelemetry/api';
import { getRPCMetadata } from '@opentelemetry/core';
import { areLibrariesInstrumented } from '../telemetry/instrumentation.ts';
import { decideSamplingHere, distrust } from '../telemetry/sampling-decision.ts';
import { TRACK_HEADER, withWantedTrack } from '../wanted-track.ts';
import { countActiveRequests } from './active-requests.ts';
import { durationOf } from './durations.ts';
import { HttpExchange, pathOf } from './http.ts';

/** Key of a request's trace state. */
const TRACED = Symbol('traced request');

type Traced = IncomingMessage & { [TRACED]?: TracedRequest | undefined };

/** Methods that name their span; others are HTTP (semantic conventions 1.44). */
const METHODS = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE']);

/**
 * Runs `handle` in the request's server span, which ends with the response, or when the client leaves. Health checks have
 * none. Events of the request, such as the arrival of its body, come from the socket and have no context: their handlers
 * run by `inRequest`. On a public server callers are untrusted (decision 0027). Where Node's server is instrumented, which
 * makes the span and binds the events, it only counts.
 */
export function traceRequests(
  handle: RequestListener,
  { isPublic, probePath }: { isPublic: boolean; probePath?: string | undefined },
): RequestListener {
  const duration = durationOf('http.server.request.duration');
  const countActive = countActiveRequests();
  return (request, response) => {
    if (request.url?.startsWith('/health')) return handle(request, response);
    response.once('close', countActive({ 'http.request.method': methodOf(request), 'url.scheme': 'http' }));
    const wanted = request.headers[TRACK_HEADER];
    if (areLibrariesInstrumented()) {
      return context.with(withWantedTrack(context.active(), wanted), handle, undefined, request, response);
    }
    const caller = isPublic ? untrustedContext(request, request.url === probePath) : callerContext(request);
    const parent = withWantedTrack(caller, wanted);
    const traced = new TracedRequest(request, parent, duration);
    (request as Traced)[TRACED] = traced;
    response.once('close', endOf);
    return context.with(traced.context, handle, undefined, request, response);
  };
}

/** Runs `work` in the request's context; as it is where the request is not traced. */
export function inRequest<T>(request: IncomingMessage, work: () => T): T {
  const traced = (request as Traced)[TRACED];
  return traced === undefined ? work() : context.with(traced.context, work);
}

/** Names the request's span `{method} {route}`. */
export function nameRequest(request: IncomingMessage, route: string): void {
  const metadata = areLibrariesInstrumented() ? getRPCMetadata(context.active()) : undefined;
  // The instrumentation reads it when the response ends.
  if (metadata !== undefined) metadata.route = route;
  else (request as Traced)[TRACED]?.named(route);
}

/**
 * Marks the headers of each request to an instrumented public server, before the instrumentation reads the trace context
 * from them.
 */
export function distrustClients(server: Server, probePath: string | undefined): void {
  const emit: (name: string, ...args: unknown[]) => boolean = server.emit.bind(server);
  server.emit = (name: string, ...args: unknown[]) => {
    if (name === 'request') distrustRequest(args[0] as IncomingMessage, probePath);
    return emit(name, ...args);
  };
}

function distrustRequest({ url, headers }: IncomingMessage, probePath: string | undefined): void {
  if (url === probePath) {
    delete headers.tracestate;
    delete headers.baggage;
  } else distrust(headers);
}

function endOf(this: ServerResponse): void {
  (this.req as Traced)[TRACED]?.closed(this);
}

class TracedRequest extends HttpExchange {
  private readonly method: string;

  constructor(request: IncomingMessage, parent: Context, duration: Histogram) {
    const given = request.method ?? 'GET';
    const isKnown = METHODS.has(given);
    const series = {
      'http.request.method': methodOf(request),
      'url.scheme': 'http',
      'network.protocol.version': request.httpVersion,
    };
    const attributes = {
      ...series,
      ...(isKnown ? {} : { 'http.request.method_original': given }),
      'url.path': pathOf(request.url ?? ''),
      ...addressOf(request.headers.host),
      ...clientOf(request),
    };
    const name = isKnown ? given : 'HTTP';
    super({ name, kind: SpanKind.SERVER, attributes, series, parent }, duration, 500);
    this.method = name;
  }

  named(route: string): void {
    this.classify({ 'http.route': route });
    this.span.updateName(`${this.method} ${route}`);
  }

  closed(response: ServerResponse): void {
    // A client that left before the response has seen no status.
    if (response.headersSent) this.endWithStatus(response.statusCode);
    else this.end();
  }
}

/** Value of a metric attribute: unknown methods must not create series. */
function methodOf({ method = 'GET' }: IncomingMessage): string {
  return METHODS.has(method) ? method : '_OTHER';
}

function callerContext({ headers }: IncomingMessage): Context {
  return propagation.extract(ROOT_CONTEXT, headers);
}

/**
 * Without `tracestate` and `baggage`, which the services would propagate. The client's sampling flag is ignored, but for a
 * probe, which hides no order.
 */
function untrustedContext({ headers }: IncomingMessage, isProbe: boolean): Context {
  const extracted = propagation.extract(ROOT_CONTEXT, { traceparent: headers.traceparent });
  return isProbe ? extracted : decideSamplingHere(extracted);
}

function clientOf({ socket, headers }: IncomingMessage): Attributes {
  const attributes: Attributes = {};
  const { remoteAddress, remotePort } = socket;
  // Without `Forwarded` headers, which are not read, they are one.
  if (remoteAddress !== undefined) {
    attributes['client.address'] = remoteAddress;
    attributes['network.peer.address'] = remoteAddress;
  }
  if (remotePort !== undefined) attributes['network.peer.port'] = remotePort;
  if (headers['user-agent'] !== undefined) attributes['user_agent.original'] = headers['user-agent'];
  return attributes;
}

/** Name and port by which the client knows this server. */
function addressOf(host: string | undefined): Attributes | undefined {
  if (host === undefined) return undefined;
  const colon = host.lastIndexOf(':');
  const port = colon > host.lastIndexOf(']') ? Number(host.slice(colon + 1)) : Number.NaN;
  if (!Number.isInteger(port)) return { 'server.address': host };
  return { 'server.address': host.slice(0, colon), 'server.port': port };
}
