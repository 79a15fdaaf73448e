/**
 * Against a real RabbitMQ and PostgreSQL: one shipment per order whatever is delivered. Failing messages end in the
 * dead letters without blocking the queue, and neither a lost database nor a lost broker costs a message.
 */
import { randomUUID } from 'node:crypto';
import { type Database, openDatabase, sql } from '@shop/kit/database.ts';
import { createOrderConfirmed, createOrderConfirmedV2, type OrderConfirmedEvent } from '@shop/kit/events.ts';
import type { EdgeUpstreams } from '@shop/kit/live-upstreams.ts';
import { createLogger } from '@shop/kit/logger.ts';
import {
  DEAD_LETTERS_QUEUE,
  DELIVERIES_HEADER,
  DELIVERY_LIMIT,
  declareRetries,
  declareTopology,
  EVENTS_EXCHANGE,
  ORDER_CONFIRMED_QUEUE,
  RETRIES_QUEUE,
} from '@shop/kit/topology.ts';
import amqp, { type ChannelModel, type ConfirmChannel, type GetMessage } from 'amqplib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestBroker } from '../../../test/support/broker.ts';
import { createBroker, createDatabase, START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import type { TestDatabase } from '../../../test/support/postgres.ts';
import { openTcpSwitch } from '../../../test/support/tcp-switch.ts';
import { someUpstreams } from '../../../test/support/upstreams.ts';
import { openConsumer } from './consumer.ts';
import type { Outcome } from './metrics.ts';
import { createShipments, purgeInbox, type Shipments } from './repository.ts';

const logger = createLogger({ service: 'shipping', instance: 'shipping-test', level: 'silent' });
const quick = { hold: { baseMs: 20, maxMs: 50, limitMs: 60_000 }, retry: { baseMs: 5, maxMs: 20 } };
const hour = { baseMs: 3_600_000, maxMs: 3_600_000, limitMs: 3_600_000 };
const patience = { timeout: 15_000, interval: 25 };
const countRows = sql(
  'SELECT rows: test',
  `SELECT (SELECT count(*)::int FROM "Shipments" WHERE "OrderId" = $1) AS shipments,
          (SELECT count(*)::int FROM inbox WHERE order_id = $1) AS inbox`,
);

const insertInbox = sql(
  'INSERT inbox: test',
  `INSERT INTO inbox (message_id, type, order_id, received_at)
   VALUES ($1, 'order.confirmed', gen_random_uuid(), now() - $2::interval)`,
);

let testDatabase: TestDatabase;
let testBroker: TestBroker;
let database: Database;
let connection: ChannelModel;
let channel: ConfirmChannel;
const opened: AsyncDisposable[] = [];

beforeAll(async () => {
  [testDatabase, testBroker] = await Promise.all([createDatabase('shipping'), createBroker()]);
  database = openDatabase({ url: testDatabase.url, poolSize: 4, applicationName: 'shipping-test', logger });
  connection = await amqp.connect(testBroker.operatorUrl);
}, START_TIMEOUT_MS);

beforeEach(async () => {
  channel = await connection.createConfirmChannel();
  await declareTopology(channel);
  await channel.purgeQueue(ORDER_CONFIRMED_QUEUE);
  await channel.purgeQueue(DEAD_LETTERS_QUEUE);
  await declareRetries(channel);
  await channel.purgeQueue(RETRIES_QUEUE);
});

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
  await channel.close();
});

afterAll(async () => {
  await connection.close();
  await database[Symbol.asyncDispose]();
});

async function aConsumer(
  options: {
    shipments?: Shipments;
    url?: string;
    upstreams?: EdgeUpstreams;
    deliveries?: EdgeUpstreams;
    backoffs?: typeof quick;
    prefetch?: number;
    failpoint?: (place: string) => Promise<void>;
  } = {},
) {
  const counted: Outcome[] = [];
  const { failpoint = async () => undefined } = options;
  const consumer = await openConsumer({
    url: options.url ?? testBroker.shippingUrl,
    ...(options.upstreams !== undefined && { upstreams: options.upstreams }),
    ...(options.deliveries !== undefined && { deliveries: options.deliveries }),
    instance: 'shipping-test',
    prefetch: options.prefetch ?? 50,
    logger,
    delivery: {
      shipments: options.shipments ?? createShipments(database, failpoint),
      count: (outcome) => counted.push(outcome),
      countEvent: () => undefined,
      recordDelay: () => undefined,
      logger,
      failpoint,
      backoffs: options.backoffs ?? quick,
    },
  });
  opened.push(consumer);
  await expect.poll(() => consumer.consuming, patience).toBe(true);
  return { consumer, counted };
}

function anEvent(change: Partial<Omit<OrderConfirmedEvent, 'type'>> & { type?: string } = {}) {
  const data = { orderId: randomUUID(), lines: [{ productId: 1, quantity: 2 }], total: 90_000, currency: 'UAH' };
  return { ...createOrderConfirmed(randomUUID(), new Date(), data), ...change };
}

async function publish(body: unknown, type = 'order.confirmed'): Promise<void> {
  const content = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  channel.publish(EVENTS_EXCHANGE, type, content, { persistent: true, mandatory: false });
  await channel.waitForConfirms();
}

async function rowsOf({ data }: Pick<OrderConfirmedEvent, 'data'>) {
  const { rows } = await database.query<{ shipments: number; inbox: number }>(countRows, [data.orderId]);
  return rows[0];
}

const ready = async (queue: string) => (await channel.checkQueue(queue)).messageCount;

async function reasonOfDeath(): Promise<unknown> {
  const letter = await channel.get(DEAD_LETTERS_QUEUE, { noAck: true });
  if (letter === false) return 'no dead letter';
  const deaths: { queue: string; reason: string }[] = letter.properties.headers?.['x-death'] ?? [];
  return deaths.find(({ queue }) => queue === ORDER_CONFIRMED_QUEUE)?.reason;
}

describe('an event', () => {
  it('makes one shipment and leaves the queue empty', async () => {
    const { counted } = await aConsumer();
    const event = anEvent();
    await publish(event);
    await expect.poll(() => rowsOf(event), patience).toEqual({ shipments: 1, inbox: 1 });
    await expect.poll(() => counted).toEqual(['shipped']);
    const shipment = await createShipments(database, async () => undefined).find(event.data.orderId);
    expect(shipment?.lines).toEqual(event.data.lines);
  });

  it('delivered five times, to two consumers, makes one shipment', async () => {
    const [one, other] = [await aConsumer(), await aConsumer()];
    const event = anEvent();
    await Promise.all(Array.from({ length: 5 }, () => publish(event)));
    await expect.poll(() => [...one.counted, ...other.counted].length, patience).toBe(5);
    expect([...one.counted, ...other.counted].filter((outcome) => outcome === 'shipped')).toHaveLength(1);
    expect(await rowsOf(event)).toEqual({ shipments: 1, inbox: 1 });
    expect(await ready(DEAD_LETTERS_QUEUE)).toBe(0);
  });

  it.each([
    ['the first version, then the second', [0, 1]],
    ['the second version, then the first', [1, 0]],
    ['the second version alone', [1]],
  ])('%s: one order, one shipment', async (_title, arriving) => {
    const { counted } = await aConsumer();
    const one = anEvent();
    const { orderId, lines, total: amount, currency } = one.data;
    const priced = lines.map((line) => ({ ...line, unitPrice: 45_000 }));
    const data = { orderId, lines: priced, total: { amount, currency } };
    const versions = [one, createOrderConfirmedV2(randomUUID(), new Date(), data)];
    for (const index of arriving) await publish(versions[index], versions[index]?.type);
    await expect.poll(() => rowsOf(one), patience).toEqual({ shipments: 1, inbox: arriving.length });
    const shipment = await createShipments(database, async () => undefined).find(orderId);
    expect(shipment?.lines).toEqual(lines);
    await expect.poll(() => counted.toSorted()).toEqual(['duplicate', 'shipped'].slice(-arriving.length));
    expect(await ready(DEAD_LETTERS_QUEUE)).toBe(0);
  });
});

it('a message that was processed longer ago than it is kept is forgotten, a younger one is not', async () => {
  await database.query(insertInbox, [randomUUID(), '500 days']);
  await database.query(insertInbox, [randomUUID(), '300 days']);
  expect(await purgeInbox(database, { days: 400, limit: 10 })).toBe(1);
  expect(await purgeInbox(database, { days: 400, limit: 10 })).toBe(0);
});

describe('a message that fails', () => {
  it('is dead-lettered immediately when it is malformed; the next ones are shipped', async () => {
    await aConsumer();
    const good = Array.from({ length: 20 }, () => anEvent());
    for (const bad of ['{"id":', '[]', anEvent({ type: 'order.cancelled' }), 'x'.repeat(1_000_000)]) await publish(bad);
    for (const event of good) await publish(event);
    await expect.poll(() => ready(DEAD_LETTERS_QUEUE), patience).toBe(4);
    for (const event of good) await expect.poll(() => rowsOf(event), patience).toEqual({ shipments: 1, inbox: 1 });
    expect(await reasonOfDeath()).toBe('rejected');
  });

  it('goes to the dead letters after its delivery limit', async () => {
    let attempts = 0;
    const failing: Shipments = {
      receive: async () => {
        attempts += 1;
        throw new Error('an unexpected failure');
      },
      find: async () => undefined,
    };
    const { counted } = await aConsumer({ shipments: failing });
    await publish(anEvent());
    await expect.poll(() => ready(DEAD_LETTERS_QUEUE), patience).toBe(1);
    expect(attempts).toBe(DELIVERY_LIMIT + 1);
    expect(counted).toEqual([...Array<Outcome>(DELIVERY_LIMIT).fill('retried'), 'dead_lettered']);
    expect(await reasonOfDeath()).toBe('rejected');
  });

  it('holds no place while it waits: sixty that always fail, ahead of twenty good ones, do not keep those', async () => {
    const real = createShipments(database, async () => undefined);
    const bad = new Set<string>();
    const picky: Shipments = {
      find: real.find,
      receive: (event) => (bad.has(event.orderId) ? Promise.reject(new Error('always')) : real.receive(event)),
    };
    const [failing, good] = [60, 20].map((count) => Array.from({ length: count }, () => anEvent())) as [
      OrderConfirmedEvent[],
      OrderConfirmedEvent[],
    ];
    for (const { data } of failing) bad.add(data.orderId);
    for (const event of [...failing, ...good]) await publish(event);
    await aConsumer({ shipments: picky, prefetch: 5, backoffs: { ...quick, retry: hour } });
    for (const event of good) await expect.poll(() => rowsOf(event), patience).toEqual({ shipments: 1, inbox: 1 });
    await expect.poll(() => ready(RETRIES_QUEUE), patience).toBe(failing.length);
    await expect.poll(() => ready(ORDER_CONFIRMED_QUEUE), patience).toBe(0);
  });

  it('is kept when there is no queue to wait in, and shipped when it no longer fails', async () => {
    const real = createShipments(database, async () => undefined);
    let attempts = 0;
    const failingTwice: Shipments = {
      find: real.find,
      receive: (event) => {
        attempts += 1;
        return attempts <= 2 ? Promise.reject(new Error('twice')) : real.receive(event);
      },
    };
    const { counted } = await aConsumer({ shipments: failingTwice });
    await channel.deleteQueue(RETRIES_QUEUE);
    const event = anEvent();
    await publish(event);
    await expect.poll(() => rowsOf(event), patience).toEqual({ shipments: 1, inbox: 1 });
    await expect.poll(() => counted).toEqual(['retried', 'retried', 'shipped']);
  });

  it('comes back as it was: with its type, its trace and the count of its deliveries', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const failing: Shipments = { find: async () => undefined, receive: () => Promise.reject(new Error('always')) };
    const { consumer } = await aConsumer({ shipments: failing });
    const body = Buffer.from(JSON.stringify(anEvent()));
    const properties = { messageId: 'one', type: 'order.confirmed', headers: { traceparent }, userId: undefined };
    channel.publish(EVENTS_EXCHANGE, 'order.confirmed', body, properties);
    await channel.waitForConfirms();
    await expect.poll(() => ready(DEAD_LETTERS_QUEUE), patience).toBe(1);
    await consumer.drain();
    const letter = (await channel.get(DEAD_LETTERS_QUEUE, { noAck: true })) as GetMessage;
    expect(letter.content).toEqual(body);
    expect(letter.fields.routingKey).toBe('order.confirmed');
    expect(letter.properties).toMatchObject({ messageId: 'one', type: 'order.confirmed', deliveryMode: 2 });
    expect(letter.properties.headers).toMatchObject({ traceparent, [DELIVERIES_HEADER]: DELIVERY_LIMIT });
  });
});

describe('while the database is unavailable', () => {
  async function aCutDatabase() {
    const network = await openTcpSwitch(testDatabase.url);
    const url = network.through(testDatabase.url);
    const behind = openDatabase({ url, poolSize: 4, applicationName: 'shipping-test', logger });
    opened.push(network, behind);
    await network.cut();
    return { network, shipments: createShipments(behind, async () => undefined) };
  }

  it('messages are held past their delivery limit, and shipped when it is back', async () => {
    const { network, shipments } = await aCutDatabase();
    const { counted } = await aConsumer({ shipments });
    const event = anEvent();
    await publish(event);
    await expect.poll(() => counted.length, patience).toBeGreaterThan(DELIVERY_LIMIT * 2);
    await network.restore();
    await expect.poll(() => rowsOf(event), patience).toEqual({ shipments: 1, inbox: 1 });
    await expect.poll(() => counted.at(-1)).toBe('shipped');
    expect(await ready(DEAD_LETTERS_QUEUE)).toBe(0);
  });

  it('a message that may not be held for longer is put aside again and again, which counts as no delivery', async () => {
    const { network, shipments } = await aCutDatabase();
    const { counted } = await aConsumer({ shipments, backoffs: { ...quick, hold: { ...quick.hold, limitMs: 0 } } });
    const event = anEvent();
    await publish(event);
    await expect.poll(() => counted.length, patience).toBeGreaterThan(DELIVERY_LIMIT * 2);
    await network.restore();
    await expect.poll(() => rowsOf(event), patience).toEqual({ shipments: 1, inbox: 1 });
    expect(await ready(DEAD_LETTERS_QUEUE)).toBe(0);
  });

  it('a drain does not wait for it: what is held goes back to the queue', async () => {
    const { shipments } = await aCutDatabase();
    const { consumer, counted } = await aConsumer({ shipments, backoffs: { hold: hour, retry: hour } });
    const event = anEvent();
    await publish(event);
    await expect.poll(() => counted, patience).toEqual(['retried']);
    await consumer.drain();
    expect(consumer.consuming).toBe(false);
    await expect.poll(() => ready(ORDER_CONFIRMED_QUEUE), patience).toBe(1);
    await aConsumer();
    await expect.poll(() => rowsOf(event), patience).toEqual({ shipments: 1, inbox: 1 });
  });
});

describe('a consumer', () => {
  it('goes on when a failpoint behind the acknowledgement fails', async () => {
    const failpoint = async (place: string) => {
      if (place === 'shipment-committed:message-acknowledged') throw new Error('failpoint');
    };
    await aConsumer({ failpoint });
    const events = [anEvent(), anEvent()];
    for (const event of events) await publish(event);
    for (const event of events) await expect.poll(() => rowsOf(event), patience).toEqual({ shipments: 1, inbox: 1 });
    await expect.poll(() => ready(ORDER_CONFIRMED_QUEUE)).toBe(0);
  });

  it('that drains finishes the messages in hand and acknowledges them', async () => {
    const gate = Promise.withResolvers<void>();
    const real = createShipments(database, async () => undefined);
    let inHand = 0;
    const slow: Shipments = {
      async receive(event) {
        inHand += 1;
        await gate.promise;
        return real.receive(event);
      },
      find: real.find,
    };
    const { consumer } = await aConsumer({ shipments: slow });
    const events = [anEvent(), anEvent(), anEvent()];
    for (const event of events) await publish(event);
    await expect.poll(() => inHand, patience).toBe(3);
    const drained = consumer.drain();
    gate.resolve();
    await drained;
    for (const event of events) expect(await rowsOf(event)).toEqual({ shipments: 1, inbox: 1 });
    expect(await ready(ORDER_CONFIRMED_QUEUE)).toBe(0);
  });

  it('that loses the broker before it could acknowledge survives, reconnects and ships once', async () => {
    const network = await openTcpSwitch(testBroker.shippingUrl);
    opened.push(network);
    const gate = Promise.withResolvers<void>();
    const real = createShipments(database, async () => undefined);
    let calls = 0;
    const late: Shipments = {
      async receive(event) {
        calls += 1;
        if (calls === 1) await gate.promise;
        return real.receive(event);
      },
      find: real.find,
    };
    const { consumer, counted } = await aConsumer({ shipments: late, url: network.through(testBroker.shippingUrl) });
    const event = anEvent();
    await publish(event);
    await expect.poll(() => calls, patience).toBe(1);
    await network.cut();
    await expect.poll(() => consumer.consuming, patience).toBe(false);
    gate.resolve();
    await expect.poll(() => counted, patience).toEqual(['shipped']);
    await network.restore();
    await expect.poll(() => counted, patience).toEqual(['shipped', 'duplicate']);
    expect(await rowsOf(event)).toEqual({ shipments: 1, inbox: 1 });
    expect(consumer.consuming).toBe(true);
  });

  it('follows the broker to another address, and acknowledges at the former what it received there', async () => {
    const former = await openTcpSwitch(testBroker.shippingUrl);
    const next = await openTcpSwitch(testBroker.shippingUrl);
    opened.push(former, next);
    const { edge: upstreams, set } = someUpstreams();
    set({ address: `127.0.0.1:${former.port}` });
    const gate = Promise.withResolvers<void>();
    const real = createShipments(database, async () => undefined);
    let calls = 0;
    const late: Shipments = {
      async receive(event) {
        calls += 1;
        if (calls === 1) await gate.promise;
        return real.receive(event);
      },
      find: real.find,
    };
    const { consumer, counted } = await aConsumer({ shipments: late, upstreams });
    const [first, second] = [anEvent(), anEvent()];
    await publish(first);
    await expect.poll(() => calls, patience).toBe(1);
    set({ address: `127.0.0.1:${next.port}` });
    await expect.poll(() => next.connections, patience).toBe(1);
    await expect.poll(() => consumer.consuming, patience).toBe(true);
    await publish(second);
    await expect.poll(() => counted, patience).toEqual(['shipped']);
    expect(former.connections).toBe(1);
    gate.resolve();
    await expect.poll(() => former.connections, patience).toBe(0);
    expect(counted).toEqual(['shipped', 'shipped']);
    for (const event of [first, second]) expect(await rowsOf(event)).toEqual({ shipments: 1, inbox: 1 });
    expect(await ready(ORDER_CONFIRMED_QUEUE)).toBe(0);
  });

  it('takes no messages while its instance drains, settles what it has, and is ready meanwhile', async () => {
    const gate = Promise.withResolvers<void>();
    const real = createShipments(database, async () => undefined);
    let calls = 0;
    const late: Shipments = {
      async receive(event) {
        calls += 1;
        await gate.promise;
        return real.receive(event);
      },
      find: real.find,
    };
    const { edge: deliveries, set } = someUpstreams();
    const { consumer, counted } = await aConsumer({ shipments: late, deliveries });
    const place = { address: '127.0.0.1:9', instance: 'shipping-test' };
    await publish(anEvent());
    await expect.poll(() => calls, patience).toBe(1);
    set({ ...place, state: 'draining' });
    await expect.poll(() => consumer.consuming, patience).toBe(false);
    expect(consumer.ready).toBe(true);
    gate.resolve();
    await expect.poll(() => counted, patience).toEqual(['shipped']);
    await publish(anEvent());
    await expect.poll(() => ready(ORDER_CONFIRMED_QUEUE), patience).toBe(1);
    expect(calls).toBe(1);
    set(place);
    await expect.poll(() => counted, patience).toEqual(['shipped', 'shipped']);
    expect(consumer.consuming).toBe(true);
    expect(await ready(ORDER_CONFIRMED_QUEUE)).toBe(0);
  });

  it('does not begin where its instance drains already, and another one is drained without it', async () => {
    const { edge: deliveries, set } = someUpstreams();
    set({ address: '127.0.0.1:9', instance: 'shipping-other', state: 'draining' });
    const { consumer } = await aConsumer({ deliveries });
    set({ address: '127.0.0.1:9', instance: 'shipping-test', state: 'draining' });
    await expect.poll(() => consumer.consuming, patience).toBe(false);
    const beginning = aConsumer({ deliveries });
    await publish(anEvent());
    await expect.poll(() => ready(ORDER_CONFIRMED_QUEUE), patience).toBe(1);
    set({ address: '127.0.0.1:9', instance: 'shipping-test' });
    await beginning;
    await expect.poll(() => ready(ORDER_CONFIRMED_QUEUE), patience).toBe(0);
  });

  it('whose queue is deleted declares it again and goes on', async () => {
    const { consumer } = await aConsumer();
    await channel.deleteQueue(ORDER_CONFIRMED_QUEUE);
    await expect.poll(() => consumer.consuming, patience).toBe(false);
    await expect.poll(() => consumer.consuming, patience).toBe(true);
    const event = anEvent();
    await publish(event);
    await expect.poll(() => rowsOf(event), patience).toEqual({ shipments: 1, inbox: 1 });
  });
});
