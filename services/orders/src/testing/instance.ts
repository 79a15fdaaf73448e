import type { Database } from '@shop/kit/database.ts';
import { Deadline } from '@shop/kit/deadline.ts';
import { edges, ORDER_BUDGET_MS } from '@shop/kit/edges.ts';
import type { Failpoint } from '@shop/kit/failpoints.ts';
import { TransientError } from '@shop/kit/failures.ts';
import type { HttpClient } from '@shop/kit/http-client.ts';
import type { HttpReplica } from '@shop/kit/http-replica.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { fixedReplicas } from '@shop/kit/replicas.ts';
import { createCallPolicy } from '@shop/kit/resilience.ts';
import { createCatalog } from '../catalog-client.ts';
import { type OrderGauges, type OrderMetrics, unreadGauges } from '../metrics.ts';
import type { OrderRequest } from '../order.ts';
import { createOwnership } from '../ownership.ts';
import { createPayments } from '../payments-client.ts';
import { createPlaceOrder, type DecidedOrder } from '../place-order.ts';
import type { Publisher } from '../publisher.ts';
import { startRecovery } from '../recovery.ts';
import { startRelay } from '../relay.ts';
import type { CompensationName } from '../saga/saga.ts';
import { createSagaRunner, type SagaRunner } from '../saga-runner.ts';
import type { Stock } from '../stock-client.ts';
import type { CallName, FaultPlan, PlaceName, ProcessFault } from './faults.ts';
import { connectDatabase } from './memory-database.ts';
import type { Network } from './network.ts';
import { type OrdersStore, shortId } from './orders-store.ts';
import type { SimulatedProcess } from './process.ts';
import type { PaymentsModel, StockModel } from './services.ts';
import type { ShippingModel } from './shipping.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-simulated', level: 'silent' });

/** How long the broker may take to confirm, in ms. */
const CONFIRM_TIMEOUT_MS = 5_000;

/** The network routes the calls; a probe reports nothing of its faults. */
const replicas = fixedReplicas<HttpReplica>([
  {
    address: 'simulated',
    check: async () => undefined,
    send: () => Promise.reject(new Error('sent by the network')),
    [Symbol.asyncDispose]: async () => undefined,
  },
]);

/** The world that an instance of the orders service lives in. */
export interface SimulatedEnvironment {
  readonly network: Network;
  readonly plan: FaultPlan;
  readonly store: OrdersStore;
  readonly stock: StockModel;
  readonly payments: PaymentsModel;
  readonly shipping: ShippingModel;
  /** Called for every compensation when it is tried, whether or not it reaches the wire. */
  readonly compensating: (name: CompensationName, orderId: string) => void;
  /** Prices by product id, in kopiykas. */
  readonly prices: ReadonlyMap<number, number>;
  readonly metrics: OrderMetrics;
}

/** One running instance: the service's own parts, all but its HTTP server, in a simulated process. */
export interface Instance {
  readonly process: SimulatedProcess;
  readonly owner: string;
  /** True while an order is active here, from its insertion on. */
  isActive(orderId: string): boolean;
  place(request: OrderRequest, key: string | undefined): Promise<DecidedOrder>;
}

export function startInstance(
  process: SimulatedProcess,
  world: SimulatedEnvironment,
  applyFault: (process: SimulatedProcess, place: PlaceName, fault: ProcessFault) => void,
): Instance {
  const inserting = new Set<string>();
  const database = watchInserts(connectDatabase(world.store, world.network, process), world.store, inserting);
  const gauges: OrderGauges = { ...unreadGauges, activeSagas: 0 };
  const failpoint: Failpoint<'orders'> = async (place) => {
    const fault = world.plan.next<ProcessFault>(place);
    if (fault !== undefined) applyFault(process, place, fault);
    if (!process.alive || process.paused) await process.gate();
  };
  const policy = (edge: keyof typeof edges) => createCallPolicy(edge, edges[edge], logger, replicas);
  const client = httpClient(process, world);
  const { metrics } = world;
  const ownership = createOwnership({ database, instance: process.name, logger });
  const stock = stockClient(process, world, policy('orders-stock'));
  const payments = createPayments(client, policy('orders-payments'));
  const sagaRunner = createSagaRunner({
    database,
    owner: ownership.id,
    stock: {
      ...stock,
      release(orderId, deadline) {
        world.compensating('release stock', orderId);
        return stock.release(orderId, deadline);
      },
    },
    payments: {
      ...payments,
      refund(orderId, deadline) {
        world.compensating('refund payment', orderId);
        return payments.refund(orderId, deadline);
      },
    },
    metrics,
    gauges,
    logger,
    failpoint,
    flags: { isOn: async () => false },
    stopping: new AbortController().signal,
  });
  const watched: SagaRunner = {
    ...sagaRunner,
    run(saga, options) {
      const work = sagaRunner.run(saga, options);
      inserting.delete(saga.orderId);
      return work;
    },
  };
  const catalog = createCatalog(client, policy('orders-catalog'));
  const placeOrder = createPlaceOrder({
    database,
    ownership,
    catalog,
    sagaRunner: watched,
    metrics,
    logger,
    failpoint,
  });
  startRelay({ database, publisher: publisher(process, world), logger, failpoint, gauges });
  startRecovery({
    database,
    // Code goes on while its process is paused, as far as the next gate. A real process looks at its lease when it is
    // continued. After a look in the pause, an adoption would wait at the gate while its list of active sagas gets old.
    ownership: { id: ownership.id, mayAdopt: () => !process.paused && ownership.mayAdopt() },
    sagaRunner: watched,
    metrics,
    gauges,
    logger,
  });

  return {
    process,
    owner: ownership.id,
    isActive: (orderId) => process.alive && (inserting.has(orderId) || sagaRunner.activeIds().includes(orderId)),
    async place(request, key) {
      if (!process.alive || process.paused) await process.gate();
      try {
        return await placeOrder(request, key, Deadline.after(ORDER_BUDGET_MS));
      } finally {
        if (!process.alive || process.paused) await process.gate();
      }
    },
  };
}

/** Remembers the orders whose insertion was sent and has not failed. */
function watchInserts(database: Database, store: OrdersStore, inserting: Set<string>): Database {
  return {
    ...database,
    async query(statement, values) {
      if (store.kindOf(statement) !== 'insert') return database.query(statement, values);
      const id = values[0] as string;
      inserting.add(id);
      try {
        return await database.query(statement, values);
      } catch (error) {
        inserting.delete(id);
        throw error;
      }
    },
  };
}

function httpClient(from: SimulatedProcess, { network, payments, prices }: SimulatedEnvironment): HttpClient {
  return {
    replicas,
    async send({ path, body }, _attempt) {
      const product = /^\/products\/(\d+)$/.exec(path)?.[1];
      if (product !== undefined) {
        const price = prices.get(Number(product));
        const response =
          price === undefined
            ? { status: 404, body: undefined }
            : { status: 200, body: { id: Number(product), price, currency: 'UAH' } };
        return network.send({ from, to: 'catalog', at: 'price', about: product, handle: () => response });
      }
      const [at, orderId, handle] = paymentsCall(path, body as { orderId: string; amount: number }, payments);
      const response = await network.send({ from, to: 'payments', at, about: shortId(orderId), handle });
      if (response.status >= 500) throw new TransientError(`responded ${response.status}`);
      return response;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function paymentsCall(path: string, body: { orderId: string; amount: number }, payments: PaymentsModel) {
  const refunded = /^\/payments\/(.+)\/refund$/.exec(path)?.[1];
  return refunded === undefined
    ? ([
        'charge' satisfies CallName,
        body.orderId,
        (how: { halfDone: boolean }) => payments.charge(body.orderId, body.amount, how),
      ] as const)
    : (['refund' satisfies CallName, refunded, () => payments.refund(refunded)] as const);
}

function stockClient(
  from: SimulatedProcess,
  { network, stock }: SimulatedEnvironment,
  policy: ReturnType<typeof createCallPolicy>,
): Stock {
  const send = <T>(at: CallName, orderId: string, handle: () => T) =>
    network.send({ from, to: 'stock', at, about: shortId(orderId), handle });
  return {
    reserve: (orderId, lines, deadline) =>
      policy.execute({ deadline, idempotent: true }, () =>
        send('reserve', orderId, () => stock.reserve(orderId, lines)),
      ),
    release: (orderId, deadline) =>
      policy.execute({ deadline, idempotent: true }, () => send('release', orderId, () => stock.release(orderId))),
  };
}

function publisher(from: SimulatedProcess, { network, shipping }: SimulatedEnvironment): Publisher {
  return {
    ready: true,
    publish: ({ id, orderId }) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new TransientError('no confirm')), CONFIRM_TIMEOUT_MS);
        const handle = () => shipping.enqueue(id, orderId);
        network
          .send({ from, to: 'broker', at: 'publish', about: shortId(orderId), handle })
          .then(resolve, reject)
          .finally(() => clearTimeout(timer));
      }),
    [Symbol.asyncDispose]: async () => undefined,
  };
}
