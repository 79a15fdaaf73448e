import type { Health } from '@shop/kit/health.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { addOpenApi } from '@shop/kit/openapi.ts';
import { createServer, type HttpServer } from '@shop/kit/server.ts';
import { paymentsApi } from './openapi.ts';
import type { Payments } from './payments.ts';
import { addRoutes } from './routes.ts';

export interface PaymentsDependencies {
  readonly payments: Payments;
  readonly health: Health;
  readonly logger: Logger;
}

/** The HTTP server of payments, not listening yet. */
export function createApp({ payments, health, logger }: PaymentsDependencies): HttpServer {
  const server = createServer({ logger, health });
  const addRoutesTo = (target: HttpServer) => addRoutes(target, payments);
  addRoutesTo(server);
  addOpenApi(server, paymentsApi, addRoutesTo);
  return server;
}
