import { propagation, SpanKind } from '@opentelemetry/api';
import { type Dispatcher, Pool } from 'undici';
import { DRAINING_HEADER } from '../draining.ts';
import { durationOf } from './durations.ts';
import { HttpExchange, pathOf } from './http.ts';
import { activeParent, serverOf } from './operation.ts';

export type ClientRequest = Pick<Dispatcher.RequestOptions, 'method' | 'path' | 'body' | 'signal'> & {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

/** A response with its body read to the end. */
export interface ClientResponse<Body> extends Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'> {
  readonly body: Body;
}

/** Kept connections to one server, whose requests have spans and durations. */
export interface TracedPool {
  /** For untraced requests. Replaced when the server announces that it closes. */
  readonly pool: Pool;
  /** The server has announced that it closes, and no later response revoked it: other replicas are preferred. */
  readonly isDraining: boolean;
  /** Notes a response to a request of `pool`, sent at `sentAt` on the monotonic clock, in ms. */
  noteResponse(headers: Dispatcher.ResponseData['headers'], sentAt: number): void;
  /**
   * Sends the request, with the trace context if a request is its cause, and reads the response to its end with `read`;
   * the span is over by then. From 400 on it is an error, as the conventions have it for clients. Rejects with the
   * errors of undici and of `read`.
   */
  send<Body>(
    request: ClientRequest,
    read: (body: Dispatcher.ResponseData['body']) => Promise<Body>,
  ): Promise<ClientResponse<Body>>;
}

/** `origin` is the server's, e.g. `http://127.0.0.1:4001`. */
export function openTracedPool(origin: string, options: Pool.Options): TracedPool {
  let pool = new Pool(origin, options);
  /** On the monotonic clock, in ms. */
  let drainingSince: number | undefined;
  const url = new URL(origin);
  const isSecure = url.protocol === 'https:';
  const server = { 'url.scheme': isSecure ? 'https' : 'http', ...serverOf(url, isSecure ? 443 : 80) };
  const duration = durationOf('http.client.request.duration');

  function start(method: string, path: string): HttpExchange | undefined {
    const parent = activeParent();
    if (parent === undefined) return undefined;
    const urlPath = pathOf(path);
    const series = { 'http.request.method': method, ...server };
    const attributes = { ...series, 'url.full': `${origin}${urlPath}`, 'url.path': urlPath };
    return new HttpExchange({ name: method, kind: SpanKind.CLIENT, attributes, series, parent }, duration, 400);
  }

  /**
   * A server that is about to close is left before it closes a kept connection under a request. Connections at work end
   * with their response. One that is made from now on has one response, so it is not kept either.
   */
  function noteResponse(headers: Dispatcher.ResponseData['headers'], sentAt: number): void {
    if (headers[DRAINING_HEADER] === undefined) {
      // Not a request that was in flight at the announcement.
      if (drainingSince !== undefined && sentAt > drainingSince) drainingSince = undefined;
    } else if (drainingSince === undefined) {
      drainingSince = performance.now();
      const left = pool;
      pool = new Pool(origin, options);
      // Rejects when the pool is destroyed meanwhile, which ends its connections as well.
      left.close().catch(() => undefined);
    }
  }

  return {
    get pool() {
      return pool;
    },
    get isDraining() {
      return drainingSince !== undefined;
    },
    noteResponse,
    async send(request, read) {
      const headers = { ...request.headers };
      const exchange = start(request.method, request.path);
      if (exchange !== undefined) propagation.inject(exchange.context, headers);
      const sentAt = performance.now();
      try {
        const response = await pool.request({ ...request, headers });
        noteResponse(response.headers, sentAt);
        const body = await read(response.body);
        exchange?.endWithStatus(response.statusCode);
        return { statusCode: response.statusCode, headers: response.headers, body };
      } catch (error) {
        exchange?.fail(error);
        throw error;
      }
    },
  };
}
