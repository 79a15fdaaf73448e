import { randomUUID } from 'node:crypto';
import { ORDER_CONFIRMED } from '@shop/kit/event-schemas.ts';
import { EVENTS_EXCHANGE } from '@shop/kit/topology.ts';

const CONNECT_LIMIT_MS = 5_000;

/** Publishes events that no consumer can read. Resolves when the broker has confirmed all; rejects when one has reached no queue. */
export async function publishMalformed(brokerUrl: string, count: number): Promise<void> {
  const { default: amqp } = await import('amqplib');
  const connection = await amqp.connect(brokerUrl, { timeout: CONNECT_LIMIT_MS });
  // Its loss also rejects what waits for a confirm; without a listener it would end this process.
  connection.on('error', () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    let unrouted = 0;
    // The broker returns a message before it confirms it.
    channel.on('return', () => unrouted++);
    const content = Buffer.from('{"id": not JSON');
    for (let number = 0; number < count; number++) {
      channel.publish(EVENTS_EXCHANGE, ORDER_CONFIRMED, content, {
        mandatory: true,
        persistent: true,
        type: ORDER_CONFIRMED,
        contentType: 'application/cloudevents+json',
        messageId: randomUUID(),
      });
    }
    await channel.waitForConfirms();
    if (unrouted > 0) throw new Error(`${unrouted} of ${count} malformed events reached no queue`);
  } finally {
    // One that the broker has closed or blocked cannot say goodbye.
    await connection.close().catch(() => undefined);
  }
}
