import type { Database } from '@shop/kit/database.ts';
import { drainServer } from '@shop/kit/draining.ts';
import type { Failpoint } from '@shop/kit/failpoints.ts';
import type { Flags } from '@shop/kit/flags.ts';
import { createHealth, type Health } from '@shop/kit/health.ts';
import type { EndOfService } from '@shop/kit/lifecycle.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { addOpenApi } from '@shop/kit/openapi.ts';
import { createServer, type HttpServer } from '@shop/kit/server.ts';
import type { SharedListener } from '@shop/kit/shared-port.ts';
import type { Catalog } from './catalog-client.ts';
import { type OrderGauges, type OrderMetrics, unreadGauges } from './metrics.ts';
import { ordersApi } from './openapi.ts';
import type { Ownership } from './ownership.ts';
import type { Payments } from './payments-client.ts';
import { createPlaceOrder } from './place-order.ts';
import type { Publisher } from './publisher.ts';
import { startRecovery } from './recovery.ts';
import { startRelay } from './relay.ts';
import { addOrderRoutes } from './routes.ts';
import { createSagaRunner } from './saga-runner.ts';
import type { Stock } from './stock-client.ts';

export interface OrdersDependencies {
  readonly database: Database;
  readonly ownership: Ownership;
  readonly publisher: Publisher;
  readonly catalog: Catalog;
  readonly stock: Stock;
  readonly payments: Payments;
  readonly logger: Logger;
  readonly failpoint: Failpoint<'orders'>;
  readonly flags: Pick<Flags, 'isOn'> & Partial<Pick<Flags, 'shareOn'>>;
  /** Makes the service's instruments. */
  readonly metrics: (gauges: OrderGauges) => OrderMetrics;
}

export interface Orders {
  readonly server: HttpServer;
  readonly health: Health;
  /** Takes no more orders, ends active ones, and stops relay and recovery. */
  drain(end?: EndOfService & { readonly shared: SharedListener | undefined }): Promise<void>;
}

/** Assembles the service and starts its relay and recovery; the caller makes it listen. */
export function createOrders(dependencies: OrdersDependencies): Orders {
  const { database, ownership, publisher, logger, failpoint } = dependencies;
  const gauges: OrderGauges = { ...unreadGauges, activeSagas: 0 };
  const metrics = dependencies.metrics(gauges);
  const stopping = new AbortController();
  const sagaRunner = createSagaRunner({
    ...dependencies,
    owner: ownership.id,
    metrics,
    gauges,
    stopping: stopping.signal,
  });
  const placeOrder = createPlaceOrder({ ...dependencies, sagaRunner, metrics });
  const relay = startRelay({ database, publisher, logger, failpoint, gauges });
  const recovery = startRecovery({ database, ownership, sagaRunner, metrics, gauges, logger });
  // No order is taken without the lease, which has a separate connection. The broker is not checked: without it orders are
  // taken as well, the outbox holds their events.
  const health = createHealth({
    async database() {
      await Promise.all([database.ping(), ownership.ensure()]);
    },
  });
  const server = createServer({ logger, health });
  const addRoutesTo = (target: HttpServer) => addOrderRoutes(target, { database, placeOrder, failpoint });
  addRoutesTo(server);
  addOpenApi(server, ordersApi, addRoutesTo);

  return {
    server,
    health,
    async drain(end) {
      const recovered = recovery.stop();
      await drainServer(health, server, end);
      // Those whose callers had their response retry their saves as long as the database is unavailable.
      stopping.abort();
      await Promise.all([recovered, sagaRunner.idle()]);
      await relay.stop();
    },
  };
}
