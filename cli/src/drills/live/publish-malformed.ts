import { randomUUID } from 'node:crypto';

const EXCHANGE = 'shop.events';
const CONNECT_LIMIT_MS = 5_000;
/** The type that shipping reads. */
const TYPE = 'order.confirmed';

/** Publishes events that no consumer can read. Resolves when the broker has confirmed all. */
export async function publishMalformed(brokerUrl: string, count: number): Promise<void> {
  const { default: amqp } = await import('amqplib');
  const connection = await amqp.connect(brokerUrl, { timeout: CONNECT_LIMIT_MS });
  // Its loss also rejects what waits for a confirm; without a listener it would end this process.
  connection.on('error', () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    const content = Buffer.from('{"id": not JSON');
    for (let number = 0; number < count; number++) {
      channel.publish(EXCHANGE, '', content, {
        persistent: true,
        type: TYPE,
        contentType: 'application/cloudevents+json',
        messageId: randomUUID(),
      });
    }
    await channel.waitForConfirms();
  } finally {
    // One that the broker has closed or blocked cannot say goodbye.
    await connection.close().catch(() => undefined);
  }
}
