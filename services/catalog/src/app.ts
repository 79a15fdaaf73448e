import type { Health } from '@shop/kit/health.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { addOpenApi } from '@shop/kit/openapi.ts';
import { createServer, type HttpServer } from '@shop/kit/server.ts';
import { catalogApi } from './openapi.ts';
import type { Products } from './products.ts';
import { addRoutes } from './routes.ts';

export interface CatalogDependencies {
  readonly products: Products;
  readonly health: Health;
  readonly logger: Logger;
}

/** The catalog's HTTP server, not listening yet. */
export function createApp({ products, health, logger }: CatalogDependencies): HttpServer {
  const server = createServer({ logger, health });
  const addRoutesTo = (target: HttpServer) => addRoutes(target, products);
  addRoutesTo(server);
  addOpenApi(server, catalogApi, addRoutesTo);
  return server;
}
