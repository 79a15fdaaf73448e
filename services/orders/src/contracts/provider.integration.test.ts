/**
 * Orders against what its consumers expect of it: the whole service on a real database. The services behind it are
 * fakes, whose responses are the states that the contracts name; its events are those that its relay takes from the
 * outbox.
 */
import { randomUUID } from 'node:crypto';
import { type Database, openDatabase } from '@shop/kit/database.ts';
import { createOrderConfirmed } from '@shop/kit/events.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { CallUnavailableError } from '@shop/kit/resilience.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../../test/support/infrastructure.ts';
import { breaksOfPact, consumersOf } from '../../../../test/support/pacts.ts';
import { createOrders, type Orders } from '../app.ts';
import type { Catalog } from '../catalog-client.ts';
import { createOrderMetrics } from '../metrics.ts';
import type { OutboxRow } from '../outbox.ts';
import { createOwnership, type Ownership } from '../ownership.ts';
import type { ChargeResult } from '../payments-client.ts';
import { confirmSaga, insertNewOrder, updateSaga } from '../repository.ts';
import { orderSaga, type Saga } from '../saga/saga.ts';
import { afterPivot } from '../saga/transitions.ts';
import type { ReserveResult } from '../stock-client.ts';
import { aSaga } from '../testing/sagas.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const soon = { timeout: 10_000, interval: 25 };

let database: Database;
let ownership: Ownership;
let orders: Orders;
let published: OutboxRow[];
/** What the services behind orders respond, and which versions of the event it publishes. */
let behind: {
  catalog: 'has' | 'has not' | 'unavailable';
  stock: ReserveResult;
  payments: ChargeResult;
  isV2On: boolean;
};

const catalog: Catalog = {
  async findProduct(id) {
    if (behind.catalog === 'unavailable') {
      throw new CallUnavailableError('orders-catalog', 'failure', false);
    }
    return behind.catalog === 'has' ? { id, priceKopiykas: 45_000, currency: 'UAH' } : undefined;
  },
};

beforeEach(async () => {
  const { url } = await createDatabase('orders');
  database = openDatabase({ url, poolSize: 4, applicationName: 'orders-test', logger });
  ownership = createOwnership({ database, instance: 'orders-test', logger });
  published = [];
  behind = { catalog: 'has', stock: 'reserved', payments: 'accepted', isV2On: false };
  orders = createOrders({
    database,
    ownership,
    catalog,
    stock: {
      reserve: async () => behind.stock,
      release: async () => undefined,
    },
    payments: { charge: async () => behind.payments, refund: async () => undefined },
    publisher: {
      ready: true,
      publish: async (row) => void published.push(row),
      [Symbol.asyncDispose]: async () => undefined,
    },
    logger,
    failpoint: async () => undefined,
    flags: { isOn: async () => behind.isV2On },
    metrics: createOrderMetrics,
  });
}, START_TIMEOUT_MS);

afterEach(async () => {
  await orders.drain();
  await ownership[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

it('gateway and shipping are the only consumers', () => {
  expect(consumersOf('orders')).toEqual(['gateway', 'shipping']);
});

/** An order that another instance works on, with this id. */
async function anOpenOrder(orderId: string): Promise<{ saga: Saga; owner: string }> {
  const saga = aSaga({ orderId });
  const owner = ownership.id;
  await ownership.ensure();
  const order = { saga, customer: 'test', owner, traceParent: undefined, idempotencyKey: undefined };
  expect(await insertNewOrder(database, { ...order, requestHash: undefined })).toBe(true);
  return { saga, owner };
}

const respondingWith = (responses: Partial<typeof behind>) => async () => void Object.assign(behind, responses);

const states = {
  'product 1 is available and can be paid': async () => undefined,
  'payments decline': respondingWith({ payments: 'declined' }),
  'stock is short': respondingWith({ stock: 'insufficient' }),
  'there is no product 1': respondingWith({ catalog: 'has not' }),
  'the catalog is unavailable': respondingWith({ catalog: 'unavailable' }),
  'the order is being worked on': async (parameters: unknown) => void (await anOpenOrder(orderOf(parameters))),
  async 'the order is confirmed'(parameters: unknown) {
    const { saga: before, owner } = await anOpenOrder(orderOf(parameters));
    const after = afterPivot(before, orderSaga.PaymentCharged);
    const { orderId, totalKopiykas: total, currency } = after;
    const event = createOrderConfirmed(randomUUID(), new Date(), { orderId, lines: [], total, currency });
    expect(await confirmSaga(database, { before, after, owner, events: [event], traceParent: undefined })).toBe(true);
  },
  async 'the order is cancelled'(parameters: unknown) {
    const { saga: before, owner } = await anOpenOrder(orderOf(parameters));
    const after: Saga = { ...before, state: 'Cancelled', version: before.version + 1, reason: 'payment declined' };
    expect(await updateSaga(database, { before, after, owner, dueInMs: null })).toBe(true);
  },
};

function orderOf(parameters: unknown): string {
  return (parameters as { orderId: string }).orderId;
}

describe('the gateway', () => {
  async function breaks(change: (server: Orders['server']) => void = () => undefined): Promise<readonly string[]> {
    change(orders.server);
    const { catalog, stock, payments } = behind;
    // A state lasts for one interaction.
    const reset = async () => void Object.assign(behind, { catalog, stock, payments });
    return breaksOfPact('gateway', {
      provider: 'orders',
      baseUrl: await orders.server.listen({ host: '127.0.0.1', port: 0 }),
      states: Object.fromEntries(
        Object.entries(states).map(([name, setup]) => [name, { setup, teardown: reset }]),
      ) as never,
    });
  }

  it('gets what it expects', async () => expect(await breaks()).toEqual([]));

  it.each<[string, (body: Record<string, unknown>) => object, string]>([
    ['renames the status', ({ status, ...order }) => ({ ...order, state: status }), 'status'],
    ['sends the status in lower case', (order) => ({ ...order, ...lower(order.status) }), '$.status'],
    [
      'renames the reason',
      ({ reason, ...order }) => ({ ...order, ...(reason !== undefined && { cause: reason }) }),
      'reason',
    ],
    ['sends the total as text', (order) => ({ ...order, ...('total' in order && { total: '9' }) }), '$.total'],
  ])('is broken by a change that %s', { tags: ['deliberate-break'] }, async (_title, change, where) => {
    const found = await breaks((server) =>
      server.addHook('onSend', async (_request, reply, payload) =>
        reply.statusCode <= 202 ? JSON.stringify(change(JSON.parse(String(payload)))) : payload,
      ),
    );
    expect(found.join()).toContain(where);
  });

  it('is broken by a change that leaves Location out', { tags: ['deliberate-break'] }, async () => {
    const found = await breaks((server) =>
      server.addHook('onSend', async (_request, reply) => void reply.removeHeader('location')),
    );
    expect(found.join()).toContain('location');
  });
});

function lower(status: unknown): object {
  return typeof status === 'string' ? { status: status.toLowerCase() } : {};
}

describe('shipping', () => {
  /** Places an order and waits for its event of this type, which is on its way to the broker then. */
  async function theEvent(type: string): Promise<OutboxRow> {
    const response = await orders.server.inject({
      method: 'POST',
      url: '/orders',
      payload: { customer: 'test', lines: [{ productId: 1, quantity: 2 }] },
    });
    expect(response.json()).toMatchObject({ status: 'Confirmed' });
    await expect.poll(() => published.map((row) => row.type), soon).toContain(type);
    return published.find((row) => row.type === type) as OutboxRow;
  }

  function breaks(change: (payload: object) => object = (payload) => payload): Promise<readonly string[]> {
    const message = (type: string) => async () => change(JSON.parse((await theEvent(type)).payload) as object);
    return breaksOfPact('shipping', {
      provider: 'orders',
      states: {
        'an order was confirmed': async () => undefined,
        'an order was confirmed while version 2 is published as well': respondingWith({ isV2On: true }),
      },
      messages: { 'order.confirmed': message('order.confirmed'), 'order.confirmed.v2': message('order.confirmed.v2') },
    });
  }

  it('gets the events that it expects', async () => expect(await breaks()).toEqual([]));

  it.each<[string, (event: { data: Record<string, unknown> }) => object, string]>([
    [
      'renames the order id',
      (event) => ({ ...event, data: { ...event.data, orderId: undefined, order: 'x' } }),
      'orderId',
    ],
    ['sends the lines as text', (event) => ({ ...event, data: { ...event.data, lines: '1x2' } }), 'lines'],
    ['moves the data into another field', ({ data, ...event }) => ({ ...event, payload: data }), 'data'],
    ['publishes under another type', (event) => ({ ...event, type: 'order.accepted' }), '$.type'],
  ])('is broken by a change that %s', { tags: ['deliberate-break'] }, async (_title, change, where) => {
    const found = await breaks((payload) => change(payload as { data: Record<string, unknown> }));
    expect(found.join()).toContain(where);
  });
});
