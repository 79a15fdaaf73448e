/** Bare publishing: persistent messages with confirms, as many in flight as the relay has, and nothing else. */
import amqp, { type ConfirmChannel } from 'amqplib';
import { EVENTS_EXCHANGE } from '../../../kit/src/topology.ts';
import { closedLoop, type LoopResult } from '../measure/closed-loop.ts';
import { answerCalls } from '../measure/worker.ts';

export interface Publishing {
  /** AMQP URL; holds a password. */
  readonly url: string;
  readonly routingKey: string;
  readonly bytes: number;
  readonly count: number;
  readonly inFlight: number;
}

answerCalls({
  async run({ url, routingKey, bytes, count, inFlight }: Publishing): Promise<LoopResult> {
    const connection = await amqp.connect(url);
    try {
      const channel = await connection.createConfirmChannel();
      const content = Buffer.alloc(bytes, 'x');
      return await closedLoop(inFlight, { count }, () => publish(channel, routingKey, content));
    } finally {
      await connection.close();
    }
  },
});

function publish(channel: ConfirmChannel, routingKey: string, content: Buffer): Promise<void> {
  return new Promise((resolve, reject) =>
    channel.publish(EVENTS_EXCHANGE, routingKey, content, { persistent: true }, (error) =>
      error ? reject(error) : resolve(),
    ),
  );
}
