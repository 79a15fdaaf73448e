import type { Server, ServiceDefinition } from '@grpc/grpc-js';
import { grpc, loadProto } from '@shop/kit/grpc.ts';
import type { Health } from '@shop/kit/health.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { createServer, type HttpServer } from '@shop/kit/server.ts';
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
  /** Opens the gRPC server; resolves with its port. */
  listen(options: { host: string; port: number }): Promise<number>;
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

  return {
    healthServer,
    async listen({ host, port }) {
      const bound = await bind(server, `${host}:${port}`);
      await reporting.refresh();
      return bound;
    },
    async close(limitMs) {
      // Watchers of the health service are notified before the server closes.
      await reporting.refresh();
      reporting[Symbol.dispose]();
      await shutDown(server, limitMs);
      await healthServer.close();
    },
  };
}

function bind(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) =>
    server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    ),
  );
}

/** A client that keeps a stream open, as a health watcher does, would keep the server open for ever. */
function shutDown(server: Server, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => server.forceShutdown(), limitMs);
    server.tryShutdown(() => {
      clearTimeout(limit);
      resolve();
    });
  });
}
