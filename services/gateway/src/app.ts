import type { Health } from '@shop/kit/health.ts';
import type { LoadShedding } from '@shop/kit/load-shedding.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { addOpenApi } from '@shop/kit/openapi.ts';
import { PROBE_PATH } from '@shop/kit/probe.ts';
import { createServer, type HttpServer } from '@shop/kit/server.ts';
import type { Forward } from './forwarder.ts';
import { publicApi } from './openapi.ts';
import { addRoutes } from './routes.ts';

export interface GatewayDependencies {
  readonly forward: Forward;
  readonly shedding: LoadShedding;
  /** Longest time for a response of orders, in ms. */
  readonly budgetMs: number;
  readonly health: Health;
  readonly logger: Logger;
}

/** The public HTTP server, not listening yet. It writes one line for every request. */
export function createApp({ forward, shedding, budgetMs, health, logger }: GatewayDependencies): HttpServer {
  const server = createServer({ logger, health, accessLevel: 'info', isPublic: true, probePath: PROBE_PATH });
  addRoutes(server, { forward, shedding, budgetMs });
  addOpenApi(server, publicApi, () => undefined);
  return server;
}
