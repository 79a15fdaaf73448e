import { ProblemError } from '@shop/kit/problems.ts';
import type { HttpServer } from '@shop/kit/server.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requireEndToEnd, toClientHeaders, toOrdersHeaders } from './headers.ts';
import { toOrdersPath } from './path.ts';
import { BufferedBody } from './transport.ts';

/** Names an upstream for URLs only; the transport chooses the replica. */
const UPSTREAM = 'http://orders';

const ROUTES = [
  { method: 'POST', url: '/api/orders' },
  { method: 'GET', url: '/api/orders/:id' },
] as const;

/** The public routes, `/api/orders/{**rest}` to spans; they need @fastify/reply-from. Bodies are passed on unread. */
export function addRoutes(server: HttpServer, budgetMs: number): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  for (const route of ROUTES) {
    server.route({
      ...route,
      exposeHeadRoute: false,
      // reply-from logs every failure with its stack; the forwarder has logged it already.
      logLevel: 'error',
      config: { otelRoute: '/api/orders/{**rest}' },
      schema: { hide: true },
      handler: (request, reply) => forward(request, reply, budgetMs),
    });
  }
}

function forward(request: FastifyRequest, reply: FastifyReply, budgetMs: number): FastifyReply {
  const path = toOrdersPath(request.raw.url ?? '');
  if (path === undefined) throw new ProblemError('route_not_found', 'no route has this path');
  requireEndToEnd(request.headers);
  return reply.from(path, {
    ...(Buffer.isBuffer(request.body) && {
      body: request.body,
      contentType: request.headers['content-type'] ?? 'application/octet-stream',
    }),
    getUpstream: () => UPSTREAM,
    rewriteRequestHeaders: (_request, headers) => toOrdersHeaders(headers, budgetMs),
    rewriteHeaders: (headers) => toClientHeaders(headers),
    // The policy decides on retries; the library would repeat a GET after a 503.
    retryDelay: () => null,
    onResponse: (_request, response, { stream }) => response.send(bytesOf(stream)),
    onError: (response, { error }) => response.send(error.cause ?? error),
  });
}

/** The transport gives nothing else. Throws TypeError where it was replaced. */
function bytesOf(stream: unknown): Buffer {
  if (!(stream instanceof BufferedBody))
    throw new TypeError('the response of orders did not come through the transport');
  return stream.bytes;
}
