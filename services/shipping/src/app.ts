import type { Health } from '@shop/kit/health.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { addOpenApi } from '@shop/kit/openapi.ts';
import { createServer, type HttpServer } from '@shop/kit/server.ts';
import { shippingApi } from './openapi.ts';
import type { Shipments } from './repository.ts';
import { addRoutes } from './routes.ts';
import { addShadowRoutes } from './shadow/routes.ts';
import type { Shadow } from './shadow/shadow.ts';

export interface ShippingDependencies {
  readonly shipments: Pick<Shipments, 'find'>;
  readonly health: Health;
  readonly logger: Logger;
  /** Present in an instance that handles copies. */
  readonly shadow?: Pick<Shadow, 'outcomesAfter'>;
}

/** Shipping's HTTP server, not listening yet; its work comes in through the consumer. */
export function createApp({ shipments, health, logger, shadow }: ShippingDependencies): HttpServer {
  const server = createServer({ logger, health });
  const addRoutesTo = (target: HttpServer) => addRoutes(target, shipments);
  addRoutesTo(server);
  if (shadow !== undefined) addShadowRoutes(server, shadow);
  addOpenApi(server, shippingApi, addRoutesTo);
  return server;
}
