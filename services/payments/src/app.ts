import swagger from '@fastify/swagger';
import type { Health } from '@shop/kit/health.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { createServer, type HttpServer } from '@shop/kit/server.ts';
import type { Payments } from './payments.ts';
import { addRoutes } from './routes.ts';

export interface PaymentsDependencies {
  readonly payments: Payments;
  readonly health: Health;
  readonly logger: Logger;
}

/** The door of payments, not listening yet. */
export async function createApp({ payments, health, logger }: PaymentsDependencies): Promise<HttpServer> {
  const server = createServer({ logger, health });
  // Before the routes, which it collects as they are added.
  await server.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'Payments', version: '1.0.0', description: 'Charges and refunds' } },
  });
  addRoutes(server, payments);
  server.get('/openapi.json', { schema: { hide: true } }, async () => server.swagger());
  return server;
}
