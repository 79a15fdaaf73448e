/*
 * Orders of one release in a process, with fakes behind it that always do what is asked, or payments that never respond. Arguments:
 * the tree of the release, the URL of the database, and a failpoint at which it kills itself once it is asked for an order. Without one
 * it ends what others began, until it is ended. It writes a line for each call that has an effect: `charge ORDER`.
 */
import type * as Database from '../../kit/src/database.ts';
import type { FailpointName } from '../../kit/src/failpoint-names.ts';
import type * as Failures from '../../kit/src/failures.ts';
import type { Flags } from '../../kit/src/flags.ts';
import type * as Logging from '../../kit/src/logger.ts';
import type * as App from '../../services/orders/src/app.ts';
import type * as Metrics from '../../services/orders/src/metrics.ts';
import type * as Owning from '../../services/orders/src/ownership.ts';

const [tree, url, payments, killedAt] = process.argv.slice(2) as [string, string, string, FailpointName<'orders'>?];

/** Of the tree, whose types may be older ones. */
const load = async <T>(path: string): Promise<T> => (await import(`${tree}/${path}`)) as T;
const { openDatabase } = await load<typeof Database>('kit/src/database.ts');
const { TransientError } = await load<typeof Failures>('kit/src/failures.ts');
const { createLogger } = await load<typeof Logging>('kit/src/logger.ts');
const { createOrders } = await load<typeof App>('services/orders/src/app.ts');
const { createOrderMetrics } = await load<typeof Metrics>('services/orders/src/metrics.ts');
const { createOwnership } = await load<typeof Owning>('services/orders/src/ownership.ts');

const effect = (name: string, orderId: string) => void process.stdout.write(`${name} ${orderId}\n`);
const instance = `orders-${process.pid}`;
const logger = createLogger({ service: 'orders', instance, level: 'silent' });
const database = openDatabase({ url, poolSize: 4, applicationName: instance, logger });
const ownership = createOwnership({ database, instance, logger });
const orders = createOrders({
  database,
  // What is to end orders adopts them; what begins one leaves alone those that others have begun.
  ownership: killedAt === undefined ? ownership : { ...ownership, mayAdopt: () => false },
  catalog: { findProduct: async (id) => ({ id, priceKopiykas: 45_000, currency: 'UAH' }) },
  stock: {
    async reserve(orderId) {
      effect('reserve', orderId);
      return 'reserved';
    },
    release: async (orderId) => effect('release', orderId),
  },
  payments: {
    async charge({ orderId }) {
      if (payments === 'unavailable') throw new TransientError('no response');
      effect('charge', orderId);
      return 'accepted';
    },
    refund: async (orderId) => effect('refund', orderId),
  },
  publisher: { ready: true, publish: async () => undefined, [Symbol.asyncDispose]: async () => undefined },
  logger,
  async failpoint(name) {
    if (name !== killedAt) return;
    process.kill(process.pid, 'SIGKILL');
    // The signal ends it before anything else happens.
    await new Promise(() => {});
  },
  // Older releases do not wait for a promise, which is true to them.
  flags: { isOn: (() => false) as unknown as Flags['isOn'] },
  metrics: createOrderMetrics,
});
const address = await orders.server.listen({ host: '127.0.0.1', port: 0 });
if (killedAt === undefined) process.stdout.write(`owner ${ownership.id}\n`);
else
  await fetch(`${address}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ customer: 'Olena', lines: [{ productId: 1, quantity: 1 }] }),
  });
