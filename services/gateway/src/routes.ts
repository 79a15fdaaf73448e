import type { LoadShedding } from '@shop/kit/load-shedding.ts';
import { ProblemError, problems } from '@shop/kit/problems.ts';
import type { HttpServer } from '@shop/kit/server.ts';
import type { FastifyRequest } from 'fastify';
import type { Forward } from './forwarder.ts';
import { requireEndToEnd, toClientHeaders, toOrdersHeaders } from './headers.ts';
import { toOrdersTarget } from './path.ts';
import type { BufferedResponse, UpstreamRequest } from './replicas.ts';

/** With this status no order was recorded (docs/errors.md). */
const NOT_TAKEN = 503;

const ROUTES = [
  { method: 'POST', url: '/api/orders' },
  { method: 'GET', url: '/api/orders/:id' },
] as const;

interface Routing {
  readonly forward: Forward;
  readonly shedding: LoadShedding;
  readonly budgetMs: number;
}

/** The public routes, `/api/orders/{**rest}` to spans. Bodies are passed on unread. */
export function addRoutes(server: HttpServer, { forward, shedding, budgetMs }: Routing): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  for (const route of ROUTES) {
    server.route({
      ...route,
      exposeHeadRoute: false,
      config: { otelRoute: '/api/orders/{**rest}' },
      schema: { hide: true },
      handler: async (request, reply) => {
        const upstream = { method: route.method, ...toOrdersRequest(request, budgetMs) };
        const { statusCode, headers, body } = await (route.method === 'POST' ? place(upstream) : forward(upstream));
        return reply.code(statusCode).headers(toClientHeaders(headers)).send(body);
      },
    });
  }

  async function place(request: UpstreamRequest): Promise<BufferedResponse> {
    const forget = shedding.admit(request.headers['idempotency-key']?.toString());
    try {
      const response = await forward(request);
      if (response.statusCode === NOT_TAKEN) forget();
      return response;
    } catch (error) {
      if (error instanceof ProblemError && problems[error.code].status === NOT_TAKEN) forget();
      throw error;
    }
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
