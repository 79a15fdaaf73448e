import type { Server, ServiceDefinition } from '@grpc/grpc-js';
import { grpc, loadProto } from '@shop/kit/grpc.ts';
import type { Health } from '@shop/kit/health.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { createServer, type HttpServer } from '@shop/kit/server.ts';
import { acceptAt, type SharedListener } from '@shop/kit/shared-port.ts';
import { addInventory } from './grpc.ts';
import { addHealthReporting } from './health-reporting.ts';
import type { Stock } from './stock.ts';
import { requireUnbundled } from './unbundled.ts';

export interface StockDependencies {
  readonly stock: Stock;
  readonly health: Health;
  readonly logger: Logger;
}

export interface StockApp {
  /** Opens the gRPC server at an address, or on a descriptor that it inherits; resolves with its port. */
  listen(place: { host: string; port: number } | { fd: number }): Promise<number>;
  /** The HTTP server for health, not listening yet. */
  readonly healthServer: HttpServer;
  /** Rejects new calls and resolves when those in flight have ended, or are cut off after `limitMs`. */
  close(limitMs: number): Promise<void>;
}

/** Largest request taken, in bytes: a hundred lines are 2 KB. */
const MAX_REQUEST_BYTES = 64 * 1024;

/** Stock's two servers, gRPC and HTTP. gRPC serves the inventory, `grpc.health.v1.Health` and reflection. */
export function createApp({ stock, health, logger }: StockDependencies): StockApp {
  const server = new grpc.Server({ 'grpc.max_receive_message_length': MAX_REQUEST_BYTES });
  const definition = loadProto('stock.proto');
  addInventory(server, definition['stock.Inventory'] as ServiceDefinition, stock, logger);
  const reporting = addHealthReporting(server, health);
  const { ReflectionService } = requireUnbundled<typeof import('@grpc/reflection')>('@grpc/reflection');
  new ReflectionService(definition).addToServer(server);
  const healthServer = createServer({ logger, health });

  // bindAsync of grpc-js takes no descriptor.
  const connections = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
  let listener: SharedListener | undefined;

  return {
    healthServer,
    async listen(place) {
      listener = await acceptAt(place, (connection) => connections.injectConnection(connection));
      await reporting.refresh();
      return listener.port;
    },
    async close(limitMs) {
      // First: a client that connects again after GOAWAY reaches another process that shares the port.
      const left = listener?.leave();
      // Watchers of the health service are notified before the server closes.
      await reporting.refresh();
      reporting[Symbol.dispose]();
      await shutDown(server, left, limitMs);
      await healthServer.close();
    },
  };
}

/**
 * Sends GOAWAY, and resolves when all connections have `left`: the callback of tryShutdown does not wait for those that were
 * opened elsewhere. A client that keeps a stream open, as a health watcher does, would keep its connection for ever.
 */
async function shutDown(server: Server, left: Promise<void> | undefined, limitMs: number): Promise<void> {
  const limit = setTimeout(() => server.forceShutdown(), limitMs);
  await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  await left;
  clearTimeout(limit);
}
