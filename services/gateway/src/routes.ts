import { ProblemError } from '@shop/kit/problems.ts';
import type { HttpServer } from '@shop/kit/server.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toClientHeaders, toOrdersHeaders } from './headers.ts';
import { toOrdersPath } from './path.ts';
import type { BufferedBody } from './transport.ts';

const METHODS = ['GET', 'POST'];
const OTHER_METHODS = ['DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'PUT', 'TRACE'];

/** Names an upstream for URLs only; the transport chooses the replica. */
const UPSTREAM = 'http://orders';

/** The one public route, `/api/orders/{**rest}`; it needs @fastify/reply-from. Bodies are passed on unread. */
export function addRoutes(server: HttpServer, budgetMs: number): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  for (const url of ['/api/orders', '/api/orders/*']) {
    server.route({
      method: METHODS,
      url,
      exposeHeadRoute: false,
      // reply-from logs every failure with its stack; the forwarder has logged it already.
      logLevel: 'error',
      config: { otelRoute: '/api/orders/{**rest}' },
      schema: { hide: true },
      handler: (request, reply) => forward(request, reply, budgetMs),
    });
    server.route({
      method: OTHER_METHODS,
      url,
      config: { otelRoute: '/api/orders/{**rest}' },
      schema: { hide: true },
      // Before the body is read: nobody wants it.
      onRequest: async () => {
        throw new ProblemError('method_not_allowed', 'orders are read with GET and placed with POST', {
          headers: { allow: METHODS.join(', ') },
        });
      },
      handler: () => undefined,
    });
  }
}

function forward(request: FastifyRequest, reply: FastifyReply, budgetMs: number): FastifyReply {
  const path = toOrdersPath(request.raw.url ?? '');
  if (path === undefined) throw new ProblemError('route_not_found', 'no route has this path and method');
  return reply.from(path, {
    ...(Buffer.isBuffer(request.body) && {
      body: request.body,
      contentType: request.headers['content-type'] ?? 'application/octet-stream',
    }),
    getUpstream: () => UPSTREAM,
    rewriteRequestHeaders: (_request, headers) => toOrdersHeaders(headers, budgetMs),
    rewriteHeaders: (headers) => toClientHeaders(headers),
    // The policy decides on retries; the library would repeat a GET that was answered 503.
    retryDelay: () => null,
    onResponse: (_request, answer, { stream }) => answer.send((stream as unknown as BufferedBody).bytes),
    onError: (answer, { error }) => answer.send(error.cause ?? error),
  });
}
