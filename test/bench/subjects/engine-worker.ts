/**
 * The product's own saga engine in one process: interpreter, sagaRunner, leases, recovery and relay as the orders service has
 * them. What it calls over the network there are functions here, with the SQL of the services behind it.
 */
import { randomUUID } from 'node:crypto';
import type { Database } from '../../../kit/src/database.ts';
import { Deadline } from '../../../kit/src/deadline.ts';
import { ORDER_BUDGET_MS } from '../../../kit/src/edges.ts';
import { createLogger } from '../../../kit/src/logger.ts';
import { createOrderMetrics, type OrderGauges, unreadGauges } from '../../../services/orders/src/metrics.ts';
import { countPending } from '../../../services/orders/src/outbox.ts';
import { createOwnership, type Ownership } from '../../../services/orders/src/ownership.ts';
import { createPlaceOrder, type PlaceOrder } from '../../../services/orders/src/place-order.ts';
import type { Publisher } from '../../../services/orders/src/publisher.ts';
import { startRecovery } from '../../../services/orders/src/recovery.ts';
import { startRelay } from '../../../services/orders/src/relay.ts';
import { createSagaRunner } from '../../../services/orders/src/saga-runner.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { closedLoop, type LoopLimit, type LoopResult } from '../measure/closed-loop.ts';
import { handleCalls } from '../measure/worker.ts';
import { type DatabaseUrls, openEngineDatabases } from './databases.ts';
import { nextProduct } from './products.ts';
import { createDownstream, type ShopDatabases } from './shop-sql.ts';

const logger = createLogger({ service: 'bench', instance: 'engine', level: 'fatal' });
/** How long the events of a run may take to be shipped, in ms. */
const DRAIN_LIMIT_MS = 60_000;

const failpoint = () => Promise.resolve();
/** When each order was shipped, ms of `performance.now()`. */
type ShippedAt = number[];
let engine: { readonly placeOrder: PlaceOrder; readonly orders: Database; readonly shippedAt: ShippedAt } | undefined;

handleCalls({
  async open(urls: DatabaseUrls): Promise<void> {
    engine = assemble(openEngineDatabases(urls, 'engine'));
  },
  /**
   * Ends when all that was placed is shipped too. Its time is that of the loop, or from the first order shipped to the
   * last where that is longer. The peers ship inside of an order, the relay up to a poll later, at the beginning as at
   * the end.
   */
  async run({ concurrency, limit }: { concurrency: number; limit: LoopLimit }): Promise<LoopResult> {
    if (engine === undefined) throw new Error('call open first');
    const { placeOrder, orders, shippedAt } = engine;
    shippedAt.length = 0;
    const result = await closedLoop(concurrency, limit, () => place(placeOrder));
    await eventually('all events to be shipped', { withinMs: DRAIN_LIMIT_MS }, async () => {
      return (await countPending(orders)).count === 0;
    });
    const [first, last] = [shippedAt[0], shippedAt.at(-1)];
    if (first === undefined || last === undefined) throw new Error('nothing was shipped');
    return { ...result, elapsedMs: Math.max(result.elapsedMs, last - first) };
  },
});

async function place(placeOrder: PlaceOrder): Promise<void> {
  const request = { customer: 'Bench', lines: [{ productId: nextProduct(), quantity: 1 }] };
  const { status } = await placeOrder(request, undefined, Deadline.after(ORDER_BUDGET_MS));
  if (status !== 'Confirmed') throw new Error(`an order was ${status}`);
}

/** As the orders service assembles it; the supervisor of these is the process itself, which ends with its caller. */
function assemble({ orders, ...others }: ShopDatabases) {
  const downstream = createDownstream(others);
  const gauges: OrderGauges = { ...unreadGauges, activeSagas: 0 };
  const metrics = createOrderMetrics(gauges);
  const ownership: Ownership = createOwnership({ database: orders, instance: `engine-${randomUUID()}`, logger });
  const stopping = new AbortController().signal;
  const sagaRunner = createSagaRunner({
    database: orders,
    owner: ownership.id,
    stock: {
      reserve: async (orderId, lines) => {
        await downstream.reserve(orderId, lines);
        return 'reserved';
      },
      release: () => Promise.reject(new Error('nothing is released here')),
    },
    payments: {
      charge: async ({ orderId, amountKopiykas }) => {
        await downstream.charge(orderId, amountKopiykas);
        return 'accepted';
      },
      refund: () => Promise.reject(new Error('nothing is refunded here')),
    },
    metrics,
    gauges,
    logger,
    failpoint,
    flags: { isOn: async () => false },
    stopping,
  });
  const catalog = {
    findProduct: async (id: number) => ({ id, priceKopiykas: await downstream.price(id), currency: 'UAH' }),
  };
  const placeOrder = createPlaceOrder({ database: orders, ownership, catalog, sagaRunner, metrics, logger, failpoint });
  startRecovery({ database: orders, ownership, sagaRunner, metrics, gauges, logger });
  const shippedAt: ShippedAt = [];
  const publisher: Publisher = {
    ready: true,
    async publish({ payload }) {
      await downstream.ship(JSON.parse(payload) as object);
      shippedAt.push(performance.now());
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
  startRelay({ database: orders, publisher, logger, failpoint, gauges });
  return { placeOrder, orders, shippedAt };
}
