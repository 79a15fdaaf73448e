import { DEAD_LETTERS_QUEUE, declareTopology, ORDER_CONFIRMED_QUEUE } from '@shop/kit/topology.ts';
import amqp, { type ChannelModel, type ConfirmChannel } from 'amqplib';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createBroker, START_TIMEOUT_MS } from '../../../../test/support/infrastructure.ts';
import { publishMalformed } from './publish-malformed.ts';

let connection: ChannelModel;
let channel: ConfirmChannel;
let url: string;

beforeEach(async () => {
  ({ operatorUrl: url } = await createBroker());
  connection = await amqp.connect(url);
  channel = await connection.createConfirmChannel();
  await declareTopology(channel);
}, START_TIMEOUT_MS);

afterEach(() => connection?.close());

const depthOf = async (queue: string) => (await channel.checkQueue(queue)).messageCount;

it('reaches the queue of shipping', async () => {
  await publishMalformed(url, 3);
  await vi.waitFor(async () => expect(await depthOf(ORDER_CONFIRMED_QUEUE)).toBe(3), { timeout: 10_000 });
  expect(await depthOf(DEAD_LETTERS_QUEUE)).toBe(0);
});

it('fails where no queue is bound', async () => {
  await channel.deleteQueue(ORDER_CONFIRMED_QUEUE);
  await expect(publishMalformed(url, 2)).rejects.toThrow('2 of 2 malformed events reached no queue');
});
