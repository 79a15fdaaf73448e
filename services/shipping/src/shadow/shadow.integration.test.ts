/**
 * Against a real RabbitMQ and PostgreSQL, with the accounts of the platform. A release in the shadow handles a copy of each event,
 * says what it would have written, and leaves nothing behind.
 */
import { randomUUID } from 'node:crypto';
import { type Database, openDatabase, sql } from '@shop/kit/database.ts';
import { createOrderConfirmed } from '@shop/kit/events.ts';
import { PermanentError } from '@shop/kit/failures.ts';
import { createLogger } from '@shop/kit/logger.ts';
import {
  DEAD_LETTERS_QUEUE,
  declareRetries,
  declareTopology,
  EVENTS_EXCHANGE,
  ORDER_CONFIRMED_QUEUE,
  SHADOW_QUEUE,
} from '@shop/kit/topology.ts';
import amqp, { type ChannelModel, type ConfirmChannel } from 'amqplib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestBroker } from '../../../../test/support/broker.ts';
import { createBroker, createDatabase, START_TIMEOUT_MS } from '../../../../test/support/infrastructure.ts';
import { openConsumer } from '../consumer.ts';
import { backoffs } from '../delivery.ts';
import { createShipments, type Shipments } from '../repository.ts';
import { withoutInbox } from '../seeded-bugs/no-inbox.ts';
import { openShadow } from './shadow.ts';

const logger = createLogger({ service: 'shipping', instance: 'shipping-test', level: 'silent' });
const patience = { timeout: 15_000, interval: 25 };
const noFailpoint = async () => undefined;
const lines = [{ productId: 1, quantity: 2 }];
const countRows = sql(
  'SELECT rows: test',
  `SELECT (SELECT count(*)::int FROM inbox) AS inbox, (SELECT count(*)::int FROM "Shipments") AS shipments,
          (SELECT count(*)::int FROM parcels) AS parcels`,
);

let broker: TestBroker;
let database: Database;
let connection: ChannelModel;
let channel: ConfirmChannel;
const opened: AsyncDisposable[] = [];

beforeAll(async () => {
  const [testDatabase, testBroker] = await Promise.all([createDatabase('shipping'), createBroker()]);
  broker = testBroker;
  database = openDatabase({ url: testDatabase.url, poolSize: 8, applicationName: 'shipping-test', logger });
  connection = await amqp.connect(broker.operatorUrl);
}, START_TIMEOUT_MS);

beforeEach(async () => {
  channel = await connection.createConfirmChannel();
  await declareTopology(channel);
  await declareRetries(channel);
  for (const queue of [ORDER_CONFIRMED_QUEUE, DEAD_LETTERS_QUEUE]) await channel.purgeQueue(queue);
});

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
  await channel.close();
});

afterAll(async () => {
  await connection.close();
  await database[Symbol.asyncDispose]();
});

const atBroker = () => ({ url: broker.shippingUrl, instance: 'shipping-test', prefetch: 10, logger });

/** An instance that serves. */
async function aConsumer(): Promise<void> {
  const consumer = await openConsumer({
    ...atBroker(),
    delivery: {
      shipments: createShipments(database, noFailpoint),
      count: () => undefined,
      countEvent: () => undefined,
      recordDelay: () => undefined,
      logger,
      failpoint: noFailpoint,
      backoffs,
    },
  });
  opened.push(consumer);
  await expect.poll(() => consumer.ready, patience).toBe(true);
}

const asItIs = (target: Database): Shipments => createShipments(target, noFailpoint);

async function aShadow(shipmentsOn = asItIs, receivedLimitMs = 15_000) {
  const shadow = await openShadow({ ...atBroker(), database, shipmentsOn, receivedLimitMs });
  opened.push(shadow);
  await expect.poll(() => shadow.ready, patience).toBe(true);
  return shadow;
}

async function publish(count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  for (const messageId of ids) {
    const data = { orderId: randomUUID(), lines, total: 90_000, currency: 'UAH' };
    const content = Buffer.from(JSON.stringify(createOrderConfirmed(messageId, new Date(), data)));
    channel.publish(EVENTS_EXCHANGE, 'order.confirmed', content, { persistent: true, messageId });
  }
  await channel.waitForConfirms();
  return ids;
}

const rows = async () => (await database.query<Record<string, number>>(countRows, [])).rows[0] ?? {};
const waiting = async (queue: string) => (await channel.checkQueue(queue)).messageCount;

describe('a release in the shadow', () => {
  it('would write what was written, and writes nothing', async () => {
    await aConsumer();
    const shadow = await aShadow();
    const before = await rows();
    const ids = await publish(5);
    await expect.poll(() => shadow.outcomesAfter(0).length, patience).toBe(5);
    const outcomes = shadow.outcomesAfter(0);
    expect(outcomes.map(({ messageId }) => messageId).toSorted()).toEqual(ids.toSorted());
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        settlement: 'ack',
        written: { inbox: [{ type: 'order.confirmed' }], shipments: [lines], parcels: [lines] },
      });
    }
    const after = await rows();
    for (const table of ['inbox', 'shipments', 'parcels']) expect((after[table] ?? 0) - (before[table] ?? 0)).toBe(5);
    expect(shadow.outcomesAfter(3).map(({ number }) => number)).toEqual([4, 5]);
  });

  it('that ships again when a message comes twice shows it, and ships nothing', async () => {
    await aConsumer();
    const shadow = await aShadow((target) => withoutInbox(asItIs(target), target));
    const before = await rows();
    await publish(1);
    await expect.poll(() => shadow.outcomesAfter(0), patience).toHaveLength(1);
    expect(shadow.outcomesAfter(0)).toMatchObject([{ settlement: 'ack', written: { parcels: [lines, lines] } }]);
    expect((await rows()).parcels).toBe((before.parcels ?? 0) + 1);
  });

  it('that refuses a message adds no dead letter', async () => {
    await aConsumer();
    const refuses = (target: Database): Shipments => ({
      ...asItIs(target),
      receive: () => Promise.reject(new PermanentError('it cannot be read')),
    });
    const shadow = await aShadow(refuses);
    await publish(1);
    await expect.poll(() => shadow.outcomesAfter(0), patience).toHaveLength(1);
    expect(shadow.outcomesAfter(0)).toMatchObject([{ settlement: 'dead-letter' }]);
    expect(await waiting(DEAD_LETTERS_QUEUE)).toBe(0);
  });

  it('writes nothing outside of a transaction either', async () => {
    await aConsumer();
    const insert = sql('INSERT parcels: test', 'INSERT INTO parcels (order_id, lines) VALUES ($1, $2)');
    const careless = (target: Database): Shipments => ({
      ...asItIs(target),
      async receive({ orderId }) {
        await target.query(insert, [orderId, '[]']);
        return true;
      },
    });
    const shadow = await aShadow(careless);
    const before = await rows();
    await publish(1);
    await expect.poll(() => shadow.outcomesAfter(0), patience).toHaveLength(1);
    expect((await rows()).parcels).toBe((before.parcels ?? 0) + 1);
  });

  it('takes no message from what serves: one that nothing has processed stays in the queue', async () => {
    const shadow = await aShadow(asItIs, 100);
    const before = await rows();
    await publish(1);
    await expect.poll(() => shadow.outcomesAfter(0), patience).toMatchObject([{ settlement: 'unreceived' }]);
    expect(await waiting(ORDER_CONFIRMED_QUEUE)).toBe(1);
    expect(await rows()).toEqual(before);
  });

  it('leaves no queue behind', async () => {
    const shadow = await aShadow();
    await shadow[Symbol.asyncDispose]();
    const looking = await connection.createChannel();
    looking.on('error', () => undefined); // A missing queue closes the channel.
    await expect(looking.checkQueue(SHADOW_QUEUE)).rejects.toThrow('404');
  });

  it('has an account that may declare this queue, and no other', async () => {
    const own = await amqp.connect(broker.shippingUrl);
    const declaring = await own.createChannel();
    declaring.on('error', () => undefined); // A refused declaration closes the channel.
    await expect(declaring.assertQueue(`${SHADOW_QUEUE}.other`)).rejects.toThrow('403');
    await own.close();
  });
});
