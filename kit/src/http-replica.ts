import type { Dispatcher } from 'undici';
import { NotSentError } from './failures.ts';
import type { EdgeUpstreams } from './live-upstreams.ts';
import type { Replica } from './replica-picker.ts';
import { openReplicas, type Replicas } from './replicas.ts';
import { type ClientRequest, type ClientResponse, openTracedPool } from './spans/client-requests.ts';

/** A replica that is called over HTTP. */
export interface HttpReplica extends Replica, AsyncDisposable {
  /**
   * One request. Rejects with NotSentError when there was no connection, otherwise with the errors of `read` and of undici,
   * one of which is a response above 4 MiB.
   */
  send<Body>(
    request: ClientRequest,
    read: (body: Dispatcher.ResponseData['body']) => Promise<Body>,
  ): Promise<ClientResponse<Body>>;
}

const CONNECT_TIMEOUT_MS = 1_000;
const KEEP_ALIVE_MS = 30_000;
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** Codes of failures before a connection was there. */
const CONNECT_ERROR_CODES = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * Kept connections to the server of `url`, e.g. `http://127.0.0.1:4001`. `fetch` costs three times the CPU. There is no limit to
 * them: the edge's bulkhead bounds the calls. A pool that queued a request would start it, with its span, in the trace
 * of the request that freed a connection (decision 0003). The caller sets time limits by its signal.
 */
export function createHttpReplica(url: string): HttpReplica {
  const { origin, host } = new URL(url);
  const upstream = openTracedPool(origin, {
    connections: null,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_RESPONSE_BYTES,
  });
  return {
    address: host,
    get isDraining() {
      return upstream.isDraining;
    },
    async send(request, read) {
      try {
        return await upstream.send(request, read);
      } catch (error) {
        throw wasRefused(error) ? new NotSentError('there was no connection', { cause: error }) : error;
      }
    },
    async check(signal) {
      const sentAt = performance.now();
      const { statusCode, headers, body } = await upstream.pool.request({
        method: 'GET',
        path: '/health/live',
        signal,
      });
      await body.dump();
      upstream.noteResponse(headers, sentAt);
      if (statusCode !== 200) throw new Error(`responded ${statusCode}`);
    },
    [Symbol.asyncDispose]: () => upstream.pool.destroy(),
  };
}

/** The replicas at these `origins`, or where the upstreams of their edge say; these are called as the first origin. */
export function openHttpReplicas(origins: readonly string[], upstreams?: EdgeUpstreams): Replicas<HttpReplica> {
  const urls = origins.map((origin) => new URL(origin));
  const protocol = urls[0]?.protocol ?? 'http:';
  const addresses = urls.map(({ protocol: own, hostname, port }) => `${hostname}:${port || DEFAULT_PORTS[own]}`);
  return openReplicas({ addresses, upstreams, open: (address) => createHttpReplica(`${protocol}//${address}`) });
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

function wasRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CONNECT_ERROR_CODES.has(String(error.code));
}
