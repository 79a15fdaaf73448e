import { ProblemError } from '@shop/kit/problems.ts';
import type { HttpServer } from '@shop/kit/server.ts';
import type { FastifyRequest } from 'fastify';
import type { Forward } from './forwarder.ts';
import { requireEndToEnd, toClientHeaders, toOrdersHeaders } from './headers.ts';
import { toOrdersTarget } from './path.ts';
import type { UpstreamRequest } from './replicas.ts';

const ROUTES = [
  { method: 'POST', url: '/api/orders' },
  { method: 'GET', url: '/api/orders/:id' },
] as const;

/** The public routes, `/api/orders/{**rest}` to spans. Bodies are passed on unread. */
export function addRoutes(server: HttpServer, forward: Forward, budgetMs: number): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  for (const route of ROUTES) {
    server.route({
      ...route,
      exposeHeadRoute: false,
      config: { otelRoute: '/api/orders/{**rest}' },
      schema: { hide: true },
      handler: async (request, reply) => {
        const upstream = toOrdersRequest(request, budgetMs);
        const { statusCode, headers, body } = await forward({ method: route.method, ...upstream });
        return reply.code(statusCode).headers(toClientHeaders(headers)).send(body);
      },
    });
  }
}

/** Throws ProblemError for a request that orders may not get. */
function toOrdersRequest(request: FastifyRequest, budgetMs: number): Omit<UpstreamRequest, 'method'> {
  const path = toOrdersTarget(request.raw.url ?? '');
  if (path === undefined) throw new ProblemError('route_not_found', 'no route has this path');
  requireEndToEnd(request.headers);
  const headers = toOrdersHeaders(request.headers, budgetMs);
  if (!Buffer.isBuffer(request.body)) return { path, headers, body: null };
  return { path, headers: { 'content-type': 'application/octet-stream', ...headers }, body: request.body };
}
