import type { Options } from 'amqplib';
import { ORDER_CONFIRMED, ORDER_CONFIRMED_V2 } from './event-schemas.ts';

/** Names of what the services share on the broker. */
export const EVENTS_EXCHANGE = 'shop.events';
export const DEAD_LETTERS_EXCHANGE = 'shop.dead-letters';
export const ORDER_CONFIRMED_QUEUE = 'shipping.order-confirmed';
/** Copies for a release in the shadow. Its consumer declares it, and it ends with the consumer's connection. */
export const SHADOW_QUEUE = 'shipping.order-confirmed.shadow';
export const DEAD_LETTERS_QUEUE = 'shipping.dead-letters';
/** What shipping has failed on waits here for its back-off, and comes back through the second exchange. */
export const RETRIES_EXCHANGE = 'shipping.retries';
export const RETRIES_QUEUE = 'shipping.order-confirmed.retries';
const REDELIVERIES_EXCHANGE = 'shipping.redeliveries';

/** Header of a message that comes back: how often it was delivered before it waited. */
export const DELIVERIES_HEADER = 'x-shop-deliveries';

/**
 * How often a message may be delivered again before it goes to the dead letters. A closed channel counts as a delivery,
 * so the limit leaves room for a consumer that is restarted again and again. RabbitMQ 4 has the same default.
 */
export const DELIVERY_LIMIT = 20;

/** Event types the shipping queue is bound to; the event type is the routing key. */
export const SHIPPING_BINDINGS = [ORDER_CONFIRMED, ORDER_CONFIRMED_V2] as const;

/** What declarations are made on: a channel of the broker, or what records them. */
export interface TopologyChannel {
  assertExchange(exchange: string, type: string, options?: Options.AssertExchange): Promise<unknown>;
  assertQueue(queue: string, options?: Options.AssertQueue): Promise<unknown>;
  bindQueue(queue: string, exchange: string, routingKey: string): Promise<unknown>;
}

/**
 * Declares everything, idempotently. Publisher and consumer both do it before they start, because the publisher does
 * not ask for a route (`mandatory: false`): an event published before its queue exists would be lost.
 */
export async function declareTopology(channel: TopologyChannel): Promise<void> {
  await channel.assertExchange(EVENTS_EXCHANGE, 'topic', { durable: true });
  await channel.assertExchange(DEAD_LETTERS_EXCHANGE, 'fanout', { durable: true });
  await channel.assertQueue(DEAD_LETTERS_QUEUE, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
  await channel.bindQueue(DEAD_LETTERS_QUEUE, DEAD_LETTERS_EXCHANGE, '');
  await channel.assertQueue(ORDER_CONFIRMED_QUEUE, {
    durable: true,
    deadLetterExchange: DEAD_LETTERS_EXCHANGE,
    arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': DELIVERY_LIMIT },
  });
  for (const type of SHIPPING_BINDINGS) await channel.bindQueue(ORDER_CONFIRMED_QUEUE, EVENTS_EXCHANGE, type);
}

/**
 * Declares where failed messages wait, after `declareTopology`. A message waits as long as its own expiration says, behind
 * those that came before it, and then goes back to the queue with its routing key. The broker passes it on at least once:
 * it keeps its copy until the queue has confirmed the other (RabbitMQ, "At-Least-Once Dead Lettering"). Only the consumer
 * declares this, with its account.
 */
export async function declareRetries(channel: TopologyChannel): Promise<void> {
  await channel.assertExchange(RETRIES_EXCHANGE, 'fanout', { durable: true });
  await channel.assertExchange(REDELIVERIES_EXCHANGE, 'fanout', { durable: true });
  await channel.bindQueue(ORDER_CONFIRMED_QUEUE, REDELIVERIES_EXCHANGE, '');
  await channel.assertQueue(RETRIES_QUEUE, {
    durable: true,
    deadLetterExchange: REDELIVERIES_EXCHANGE,
    arguments: {
      'x-queue-type': 'quorum',
      'x-dead-letter-strategy': 'at-least-once',
      // Demanded by the strategy. There is no limit that could overflow.
      'x-overflow': 'reject-publish',
    },
  });
  await channel.bindQueue(RETRIES_QUEUE, RETRIES_EXCHANGE, '');
}

/** What waits in the shadow's queue, at most: a consumer that hangs must not fill the broker. The oldest are dropped. */
const SHADOW_LIMIT = 10_000;

/** Declares where copies of the events go while a consumer looks at them, after `declareTopology`. */
export async function declareShadow(channel: TopologyChannel): Promise<void> {
  await channel.assertQueue(SHADOW_QUEUE, {
    durable: false,
    exclusive: true,
    autoDelete: true,
    arguments: { 'x-max-length': SHADOW_LIMIT },
  });
  for (const type of SHIPPING_BINDINGS) await channel.bindQueue(SHADOW_QUEUE, EVENTS_EXCHANGE, type);
}
