import type { LoadShedding } from '@shop/kit/load-shedding.ts';
import { ProblemError, problems } from '@shop/kit/problems.ts';
import type { HttpServer } from '@shop/kit/server.ts';
import type { FastifyRequest } from 'fastify';
import type { Forward } from './forwarder.ts';
import { requireEndToEnd, toClientHeaders, toOrdersHeaders } from './headers.ts';
import { toOrdersTarget } from './path.ts';
import type { BufferedResponse, UpstreamRequest } from './replicas.ts';
import { toVersionOne, toVersionTwo } from './version-two.ts';

/** With this status no order was recorded (docs/errors.md). */
const NOT_TAKEN = 503;

const ROUTES = [
  { method: 'POST', url: '/orders' },
  { method: 'GET', url: '/orders/:id' },
] as const;

interface ApiVersion {
  /** Where clients find it. */
  readonly base: string;
  toOrders(request: UpstreamRequest): UpstreamRequest;
  toClient(response: BufferedResponse): BufferedResponse;
}

const asItIs = <T>(message: T): T => message;

/** Orders serves the first one. */
const VERSIONS: readonly ApiVersion[] = [
  { base: '/api', toOrders: asItIs, toClient: asItIs },
  { base: '/api/v2', toOrders: toVersionOne, toClient: toVersionTwo },
];

interface Routing {
  readonly forward: Forward;
  readonly shedding: LoadShedding;
  readonly budgetMs: number;
}

/** The public routes, `/api/orders/{**rest}` to spans. Bodies of version 1 are passed on unread. */
export function addRoutes(server: HttpServer, { forward, shedding, budgetMs }: Routing): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  for (const version of VERSIONS) {
    for (const { method, url } of ROUTES) {
      server.route({
        method,
        url: version.base + url,
        exposeHeadRoute: false,
        config: { otelRoute: `${version.base}/orders/{**rest}` },
        schema: { hide: true },
        handler: async (request, reply) => {
          const upstream = version.toOrders({ method, ...toOrdersRequest(request, version.base, budgetMs) });
          const response = await (method === 'POST' ? place(upstream) : forward(upstream));
          const { statusCode, headers, body } = version.toClient(response);
          return reply.code(statusCode).headers(toClientHeaders(headers, version.base)).send(body);
        },
      });
    }
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
function toOrdersRequest(request: FastifyRequest, base: string, budgetMs: number): Omit<UpstreamRequest, 'method'> {
  const path = toOrdersTarget(request.raw.url ?? '', base);
  if (path === undefined) throw new ProblemError('route_not_found', 'no route has this path');
  requireEndToEnd(request.headers);
  const headers = toOrdersHeaders(request.headers, budgetMs);
  if (!Buffer.isBuffer(request.body)) return { path, headers, body: null };
  return { path, headers: { 'content-type': 'application/octet-stream', ...headers }, body: request.body };
}
