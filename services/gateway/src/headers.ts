import type { IncomingHttpHeaders } from 'node:http';
import { DEADLINE_HEADER } from '@shop/kit/deadline.ts';
import { DRAINING_HEADER } from '@shop/kit/draining.ts';
import { ProblemError } from '@shop/kit/problems.ts';
import { TRACK_HEADER } from '@shop/kit/wanted-track.ts';
import { toPublicPath } from './path.ts';

/**
 * The headers that reach the orders service. All others are dropped: hop-by-hop headers, `x-forwarded-*`, `host`, and the
 * trace context, which the HTTP client writes (a second `traceparent` would be invalid).
 */
const FORWARDED = ['accept', 'content-length', 'content-type', 'idempotency-key', 'user-agent', TRACK_HEADER];

/**
 * `Connection` may name no header that is meant for orders (RFC 9110, 7.6.1): it would be removed, and an order without
 * its key is another order. Throws ProblemError.
 */
export function requireEndToEnd({ connection }: IncomingHttpHeaders): void {
  const named = (connection ?? '')
    .toLowerCase()
    .split(',')
    .map((option) => option.trim());
  const lost = [...FORWARDED, DEADLINE_HEADER].filter((name) => named.includes(name));
  if (lost.length > 0) {
    throw new ProblemError(
      'malformed_request',
      `Connection names ${lost.join(', ')}, which is not about the connection`,
    );
  }
}

/** Headers of the request to orders. The budget is the client's own where that is shorter than `budgetMs`. */
export function toOrdersHeaders(headers: IncomingHttpHeaders, budgetMs: number): IncomingHttpHeaders {
  const forwarded = FORWARDED.filter((name) => headers[name] !== undefined).map((name) => [name, headers[name]]);
  const givenMs = Math.min(budgetMs, parseBudget(headers[DEADLINE_HEADER]) ?? budgetMs);
  return { ...Object.fromEntries(forwarded), [DEADLINE_HEADER]: String(givenMs) };
}

/** Whole ms; undefined when the header is absent or unusable. */
function parseBudget(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,7}$/.test(header) ? Number(header) : undefined;
}

/** About the connection (RFC 9110, 7.6.1), or written by the gateway itself. */
const NOT_RETURNED = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'server',
  DRAINING_HEADER,
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers of the response to a client whose version of the API is at `base`. */
export function toClientHeaders(headers: IncomingHttpHeaders, base: string): IncomingHttpHeaders {
  const returned = Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_RETURNED.has(name)));
  const { location } = headers;
  return location === undefined ? returned : { ...returned, location: toPublicPath(location, base) };
}
