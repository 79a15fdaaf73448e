import swagger from '@fastify/swagger';
import type { Health } from '@shop/kit/health.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { createServer, type HttpServer } from '@shop/kit/server.ts';
import type { Products } from './products.ts';
import { addRoutes } from './routes.ts';

export interface CatalogDependencies {
  readonly products: Products;
  readonly health: Health;
  readonly logger: Logger;
}

/** The catalog's door, not listening yet. */
export async function createApp({ products, health, logger }: CatalogDependencies): Promise<HttpServer> {
  const server = createServer({ logger, health });
  // Before the routes, which it collects as they are added.
  await server.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'Catalog', version: '1.0.0', description: 'Products and prices' } },
  });
  addRoutes(server, products);
  server.get('/openapi.json', { schema: { hide: true } }, async () => server.swagger());
  return server;
}
