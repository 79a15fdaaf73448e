import { connect, createServer, type Socket } from 'node:net';
import {
  DEAD_LETTERS_QUEUE,
  declareRetries,
  declareTopology,
  EVENTS_EXCHANGE,
  ORDER_CONFIRMED_QUEUE,
  RETRIES_QUEUE,
} from '@shop/kit/topology.ts';
import amqp, { type ChannelModel, type ConfirmChannel } from 'amqplib';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createBroker, START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import { openTcpSwitch } from '../../../test/support/tcp-switch.ts';
import type { Meter } from './meter.ts';
import { startQueueMeter } from './queue-meter.ts';

const LIMIT = { timeout: 15_000, interval: 50 };

let connection: ChannelModel;
let channel: ConfirmChannel;
let url: string;
let problems: string[] = [];
const opened: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  ({ operatorUrl: url } = await createBroker());
  connection = await amqp.connect(url);
  channel = await connection.createConfirmChannel();
  await declareTopology(channel);
}, START_TIMEOUT_MS);

afterAll(() => connection?.close());

afterEach(async () => {
  for (const close of opened.splice(0)) await close();
  problems = [];
  await channel.purgeQueue(ORDER_CONFIRMED_QUEUE);
});

function measure(brokerUrl: string | undefined): Meter {
  const meter = startQueueMeter({ brokerUrl: async () => brokerUrl, onProblem: (message) => problems.push(message) });
  opened.push(() => meter.end());
  return meter;
}

/** `{queue: [messages, consumers]}` */
function read(meter: Meter): Record<string, number[]> {
  const found: Record<string, number[]> = {};
  for (const { gauge } of meter.metrics()) {
    for (const { asDouble, attributes = [] } of gauge?.dataPoints ?? []) {
      const queue = String(attributes[0]?.value?.stringValue);
      found[queue] = [...(found[queue] ?? []), asDouble ?? Number.NaN];
    }
  }
  return found;
}

async function publish(count: number): Promise<void> {
  for (let left = count; left > 0; left--) {
    channel.publish(EVENTS_EXCHANGE, 'order.confirmed', Buffer.from('{}'), { persistent: true });
  }
  await channel.waitForConfirms();
}

it('reads what waits and who consumes; a queue that is not there has no value until it is declared', async () => {
  const meter = measure(url);
  await publish(3);
  await expect
    .poll(() => read(meter), LIMIT)
    .toEqual({ [ORDER_CONFIRMED_QUEUE]: [3, 0], [DEAD_LETTERS_QUEUE]: [0, 0] });
  await declareRetries(channel);
  await expect.poll(() => read(meter)[RETRIES_QUEUE], LIMIT).toEqual([0, 0]);
  const { consumerTag } = await channel.consume(ORDER_CONFIRMED_QUEUE, () => undefined, { noAck: true });
  await expect.poll(() => read(meter)[ORDER_CONFIRMED_QUEUE], LIMIT).toEqual([0, 1]);
  await channel.cancel(consumerTag);
  await expect.poll(() => read(meter)[ORDER_CONFIRMED_QUEUE], LIMIT).toEqual([0, 0]);
  expect(problems).toEqual([]);
});

it('has no value while the broker cannot be reached, says so once, and comes back', async () => {
  await using network = await openTcpSwitch(url);
  const meter = measure(network.through(url));
  await expect.poll(() => read(meter)[ORDER_CONFIRMED_QUEUE], LIMIT).toEqual([0, 0]);
  await network.cut();
  await expect.poll(() => meter.metrics(), LIMIT).toEqual([]);
  await publish(2);
  // It tries again meanwhile, which is not reported again.
  await expect.poll(() => problems, LIMIT).toHaveLength(1);
  await network.restore();
  await expect.poll(() => read(meter)[ORDER_CONFIRMED_QUEUE], LIMIT).toEqual([2, 0]);
  await expect
    .poll(() => problems, LIMIT)
    .toEqual([
      expect.stringContaining('the queues of the broker cannot be read'),
      'the queues of the broker are read again',
    ]);
});

it('has no value while the broker is frozen, ends all the same, and leaves no connection', async () => {
  const { sockets, port, freeze } = await openFreezer(url);
  const frozenUrl = new URL(url);
  frozenUrl.port = String(port);
  const meter = measure(frozenUrl.href);
  await expect.poll(() => read(meter)[ORDER_CONFIRMED_QUEUE], LIMIT).toEqual([0, 0]);
  expect(sockets.size).toBe(1);
  freeze();
  await expect.poll(() => meter.metrics(), LIMIT).toEqual([]);
  await meter.end();
  await expect.poll(() => sockets.size, LIMIT).toBe(0);
});

it('asks nothing while no broker is meant to run', async () => {
  const meter = measure(undefined);
  expect(meter.metrics()).toEqual([]);
  await meter.end();
  expect(problems).toEqual([]);
});

/** A relay that can stop to pass on what it gets, as a stopped process does. */
async function openFreezer(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const frozen: (() => void)[] = [];
  const server = createServer((near) => {
    sockets.add(near);
    const far = connect(Number(port), hostname);
    near
      .on('error', () => undefined)
      .on('close', () => {
        sockets.delete(near);
        far.destroy();
      });
    far.on('error', () => undefined);
    near.pipe(far).pipe(near);
    frozen.push(() => far.unpipe(near));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(() => new Promise((resolve) => server.close(resolve)));
  return {
    sockets,
    port: (server.address() as { port: number }).port,
    freeze: () => frozen.forEach((stop) => void stop()),
  };
}
