import { randomUUID } from 'node:crypto';
import type { DatabaseName } from '../../../cli/src/topology/databases.ts';
import type { Database } from '../../../kit/src/database.ts';
import { createOrderConfirmed, parseOrderConfirmed } from '../../../kit/src/events.ts';
import { createProducts } from '../../../services/catalog/src/repository.ts';
import { markPublished } from '../../../services/orders/src/outbox.ts';
import { confirmSaga, insertNewOrder, updateSaga } from '../../../services/orders/src/repository.ts';
import { orderSaga, type Participants, type Saga, type Step, steps } from '../../../services/orders/src/saga/saga.ts';
import { afterPivot, afterStep } from '../../../services/orders/src/saga/transitions.ts';
import { createPayments } from '../../../services/payments/src/payments.ts';
import { createPaymentStore } from '../../../services/payments/src/repository.ts';
import { createShipments } from '../../../services/shipping/src/repository.ts';
import { createStock } from '../../../services/stock/src/stock.ts';

export type ShopDatabases = Readonly<Record<DatabaseName, Database>>;

const noFailpoint = () => Promise.resolve();
/** No instance ends while it is measured. */
const stillWanted = () => undefined;
/** A trace parent is stored with every order; this one is of the right length. */
const TRACE_PARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

/** What the services behind orders do to their databases for one order: their own code, without the services. */
export function createDownstream({ catalog, stock, payments, shipping }: Omit<ShopDatabases, 'orders'>) {
  const products = createProducts(catalog, noFailpoint);
  const reservations = createStock(stock, noFailpoint);
  const charges = createPayments(createPaymentStore(payments), noFailpoint);
  const shipments = createShipments(shipping, noFailpoint);
  return {
    /** Price in kopiykas. */
    async price(productId: number): Promise<number> {
      const product = await products.find(productId);
      if (product === undefined) throw new Error(`there is no product ${productId}`);
      return product.price;
    },
    async reserve(orderId: string, lines: readonly { productId: number; quantity: number }[]): Promise<void> {
      const request = { orderId, idempotencyKey: `${orderId}:reserve`, lines };
      const { outcome } = await reservations.reserve(request, stillWanted);
      if (outcome !== 'reserved') throw new Error(`the reservation ended ${outcome}`);
    },
    async charge(orderId: string, amount: number): Promise<void> {
      const charge = { orderId, idempotencyKey: `${orderId}:charge`, amount, currency: 'UAH' };
      const { outcome } = await charges.charge(charge);
      if (outcome !== 'accepted') throw new Error(`the charge ended ${outcome}`);
    },
    /** Takes an event as shipping does, parsed from its text. */
    async ship(event: object): Promise<void> {
      await shipments.receive(parseOrderConfirmed(Buffer.from(JSON.stringify(event))));
    },
  };
}

/**
 * The SQL of one confirmed order and nothing else: 16 statements over five databases, in the order of the trace
 * contract. They run through the services' own functions, so that they cannot differ from what the services run.
 */
export async function runShopSql({ orders, ...others }: ShopDatabases, productId: number): Promise<void> {
  const downstream = createDownstream(others);
  const participants = participantsOf(downstream);
  const owner = randomUUID();
  const lines = [{ productId, quantity: 1, priceKopiykas: await downstream.price(productId) }];
  let saga = startedSaga(lines);
  const order = { saga, customer: 'Bench', owner, traceParent: TRACE_PARENT };
  await insertNewOrder(orders, { ...order, idempotencyKey: undefined, requestHash: undefined });
  for (const step of steps) {
    await step.run(participants, saga);
    saga = await save(orders, owner, saga, step);
  }
  const event = createOrderConfirmed(randomUUID(), new Date(), {
    orderId: saga.orderId,
    lines: [{ productId, quantity: 1 }],
    total: saga.totalKopiykas,
    currency: saga.currency,
  });
  const confirm = { before: saga, after: afterPivot(saga, orderSaga.PaymentCharged), owner, traceParent: TRACE_PARENT };
  expectOurs(await confirmSaga(orders, { ...confirm, events: [event] }));
  await markPublished(orders, [event.id]);
  await downstream.ship(event);
}

function participantsOf(downstream: ReturnType<typeof createDownstream>): Participants {
  const compensates = () => Promise.reject(new Error('an order that is confirmed compensates nothing'));
  return {
    async reserve({ orderId, lines }) {
      const wanted = lines.map(({ productId, quantity }) => ({ productId, quantity }));
      await downstream.reserve(orderId, wanted);
      return { kind: 'done' };
    },
    async charge({ orderId, totalKopiykas }) {
      await downstream.charge(orderId, totalKopiykas);
      return { kind: 'done' };
    },
    release: compensates,
    refund: compensates,
  };
}

function startedSaga(lines: Saga['lines']): Saga {
  const totalKopiykas = lines.reduce((sum, { priceKopiykas, quantity }) => sum + priceKopiykas * quantity, 0);
  const none = { reason: null, pending: [], attempts: 0, lastError: null };
  return { orderId: randomUUID(), lines, totalKopiykas, currency: 'UAH', state: 'Started', version: 1, ...none };
}

async function save(orders: Database, owner: string, before: Saga, step: Step): Promise<Saga> {
  const after = afterStep(before, step, { kind: 'done' });
  expectOurs(await updateSaga(orders, { before, after, owner, dueInMs: null }));
  return after;
}

function expectOurs(changed: boolean): void {
  if (!changed) throw new Error('a compare-and-set of a saga without another owner was refused');
}
