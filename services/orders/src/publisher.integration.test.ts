/** Against a real RabbitMQ: events are published again after the broker has closed the channel and kept the connection. */
import { randomUUID } from 'node:crypto';
import { createLogger } from '@shop/kit/logger.ts';
import { EVENTS_EXCHANGE, ORDER_CONFIRMED_QUEUE } from '@shop/kit/topology.ts';
import amqp, { type Channel, type ChannelModel } from 'amqplib';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { TestBroker } from '../../../test/support/broker.ts';
import { createBroker, START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import { openTcpSwitch } from '../../../test/support/tcp-switch.ts';
import { someUpstreams } from '../../../test/support/upstreams.ts';
import { openPublisher, type Publisher } from './publisher.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const patience = { timeout: 15_000, interval: 25 };

let testBroker: TestBroker;
let operator: ChannelModel;
let channel: Channel;
let publisher: Publisher;

beforeAll(async () => {
  testBroker = await createBroker();
  operator = await amqp.connect(testBroker.operatorUrl);
  publisher = await openPublisher({ url: testBroker.ordersUrl, logger, instance: 'orders-test' });
}, START_TIMEOUT_MS);

beforeEach(async () => {
  channel = await operator.createChannel();
  await expect.poll(() => publisher.ready, patience).toBe(true);
  await channel.purgeQueue(ORDER_CONFIRMED_QUEUE);
});

afterAll(async () => {
  await publisher[Symbol.asyncDispose]();
  await operator.close();
});

const publish = (by = publisher) =>
  by.publish({
    id: randomUUID(),
    orderId: randomUUID(),
    type: 'order.confirmed',
    payload: '{}',
    traceParent: null,
  });
const waiting = async () => (await channel.checkQueue(ORDER_CONFIRMED_QUEUE)).messageCount;

it('publishes again after its exchange was deleted, which it declares again', async () => {
  await publish();
  await channel.deleteExchange(EVENTS_EXCHANGE);
  await expect(publish()).rejects.toThrow('did not take');
  await expect.poll(() => publisher.ready, patience).toBe(true);
  await publish();
  await expect.poll(waiting, patience).toBe(2);
});

it('declares the queue that its events are for, so that those before the first start of shipping wait in it', async () => {
  await channel.deleteQueue(ORDER_CONFIRMED_QUEUE);
  await using first = await openPublisher({ url: testBroker.ordersUrl, logger, instance: 'orders-first' });
  await expect.poll(() => first.ready, patience).toBe(true);
  await publish();
  await expect.poll(waiting, patience).toBe(1);
});

it('publishes again once what it declares is no longer refused', async () => {
  const warn = vi.spyOn(logger, 'warn');
  await channel.deleteExchange(EVENTS_EXCHANGE);
  await expect(publish()).rejects.toThrow('did not take');
  await channel.assertExchange(EVENTS_EXCHANGE, 'fanout');
  const refused = [{ reason: expect.stringContaining('PRECONDITION_FAILED') as string }, 'no new channel'];
  await expect.poll(() => warn.mock.calls, patience).toContainEqual(refused);
  expect(publisher.ready).toBe(false);
  await channel.deleteExchange(EVENTS_EXCHANGE);
  await expect.poll(() => publisher.ready, patience).toBe(true);
  await publish();
  await expect.poll(waiting, patience).toBe(1);
});

it('publishes at the new address of the broker when that changes, and leaves the former', async () => {
  await using former = await openTcpSwitch(testBroker.ordersUrl);
  await using next = await openTcpSwitch(testBroker.ordersUrl);
  const { edge: upstreams, set } = someUpstreams();
  set({ address: `127.0.0.1:${former.port}` });
  await using moving = await openPublisher({ url: testBroker.ordersUrl, upstreams, logger, instance: 'orders-moving' });
  await expect.poll(() => moving.ready, patience).toBe(true);
  await publish(moving);
  expect(former.connections).toBe(1);
  set({ address: `127.0.0.1:${next.port}` });
  await expect.poll(() => next.connections, patience).toBe(1);
  await expect.poll(() => moving.ready, patience).toBe(true);
  await publish(moving);
  await expect.poll(() => former.connections, patience).toBe(0);
  await expect.poll(waiting, patience).toBe(2);
});
