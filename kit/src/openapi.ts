import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import fastify from 'fastify';
import type { HttpServer } from './server.ts';

export type OpenApiOptions = FastifyDynamicSwaggerOptions;

/**
 * Serves the service's OpenAPI document at `GET /openapi.json`. It is made at the first request, from a second server
 * that only collects what `addRoutes` declares: it is rarely requested, and the collector would cost memory at every start.
 */
export function addOpenApi(
  server: HttpServer,
  options: OpenApiOptions,
  addRoutes: (collector: HttpServer) => void,
): void {
  let document: object | undefined;
  server.get('/openapi.json', { schema: { hide: true } }, async () => {
    document ??= await collectOpenApi(options, addRoutes);
    return document;
  });
}

/** The document as it is served. `addRoutes` gets a server that handles no requests. */
export async function collectOpenApi(
  options: OpenApiOptions,
  addRoutes: (collector: HttpServer) => void,
): Promise<object> {
  const { default: swagger } = await import('@fastify/swagger');
  const collector = fastify().withTypeProvider<TypeBoxTypeProvider>();
  // Before the routes, which it collects as they are added.
  await collector.register(swagger, options);
  addRoutes(collector);
  await collector.ready();
  const document = collector.swagger();
  await collector.close();
  return document;
}
