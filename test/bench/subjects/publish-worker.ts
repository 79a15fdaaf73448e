/** Bare publishing: the relay's messages with confirms, as many in flight as the relay has, and nothing else. */
import { randomUUID } from 'node:crypto';
import amqp, { type ConfirmChannel } from 'amqplib';
import { EVENTS_EXCHANGE } from '../../../kit/src/topology.ts';
import { propertiesOf } from '../../../services/orders/src/publisher.ts';
import { closedLoop } from '../measure/closed-loop.ts';
import { handleCalls } from '../measure/worker.ts';

export interface Publishing {
  /** AMQP URL; holds a password. */
  readonly url: string;
  readonly routingKey: string;
  readonly bytes: number;
  readonly count: number;
  readonly inFlight: number;
}

handleCalls({
  /** Resolves with when each message was confirmed, in order, ms on a clock of the worker's own. Rejects when one was not. */
  async run({ url, routingKey, bytes, count, inFlight }: Publishing): Promise<readonly number[]> {
    const connection = await amqp.connect(url);
    try {
      const channel = await connection.createConfirmChannel();
      const content = 'x'.repeat(bytes);
      const confirmedAt: number[] = [];
      const { failed } = await closedLoop(inFlight, { count }, async () => {
        await publish(channel, routingKey, content);
        confirmedAt.push(performance.now());
      });
      if (failed > 0) throw new Error(`${failed} of ${count} messages were not confirmed`);
      return confirmedAt;
    } finally {
      await connection.close();
    }
  },
});

/** With the properties that the relay's messages have: the broker keeps them, too. */
function publish(channel: ConfirmChannel, routingKey: string, content: string): Promise<void> {
  return new Promise((resolve, reject) =>
    channel.publish(
      EVENTS_EXCHANGE,
      routingKey,
      Buffer.from(content),
      propertiesOf({ id: randomUUID(), type: routingKey }, { headers: {}, mandatory: false }),
      (error) => (error ? reject(error) : resolve()),
    ),
  );
}
