import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import {
  DEAD_LETTERS_QUEUE,
  DELIVERIES_HEADER,
  DELIVERY_LIMIT,
  declareRetries,
  declareTopology,
  EVENTS_EXCHANGE,
  ORDER_CONFIRMED_QUEUE,
  RETRIES_EXCHANGE,
} from '@shop/kit/topology.ts';
import amqp, { type ChannelModel, type ConfirmChannel, type GetMessage } from 'amqplib';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { createBroker, START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import { type DeadLetter, type DeadLetters, openDeadLetters } from './dead-letters.ts';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-1111111111111111-01';

let connection: ChannelModel;
let channel: ConfirmChannel;
let url: string;

beforeEach(async () => {
  await connection?.close();
  ({ operatorUrl: url } = await createBroker());
  connection = await amqp.connect(url);
  channel = await connection.createConfirmChannel();
  await declareTopology(channel);
}, START_TIMEOUT_MS);

afterAll(() => connection?.close());

/** The next message of a queue, waited for. */
function take(queue: string): Promise<GetMessage> {
  return vi.waitFor(
    async () => {
      const message = await channel.get(queue);
      if (message === false) throw new Error(`${queue} is empty`);
      return message;
    },
    { timeout: 10_000, interval: 20 },
  );
}

/** Publishes an event and refuses it as shipping refuses what it cannot read. */
async function kill(messageId: string): Promise<void> {
  channel.publish(EVENTS_EXCHANGE, 'order.confirmed', Buffer.from(`{"id":"${messageId}"}`), {
    messageId,
    type: 'order.confirmed',
    persistent: true,
    headers: { traceparent: TRACEPARENT },
  });
  await channel.waitForConfirms();
  channel.reject(await take(ORDER_CONFIRMED_QUEUE), false);
  await vi.waitFor(async () => expect((await channel.checkQueue(DEAD_LETTERS_QUEUE)).messageCount).toBeGreaterThan(0), {
    timeout: 10_000,
    interval: 20,
  });
}

/** What a connection reads of a queue may be a moment old. */
function untilCount(letters: DeadLetters, count: number): Promise<void> {
  return vi.waitFor(async () => expect(await letters.count()).toBe(count), { timeout: 10_000, interval: 20 });
}

/** Gives at most `limit` letters back to their queue, and resolves with those that were. */
async function retry(letters: DeadLetters, limit: number): Promise<readonly DeadLetter[]> {
  const given: DeadLetter[] = [];
  await letters.each(
    limit,
    async () => 'retry',
    (letter) => void given.push(letter),
  );
  return given;
}

it('moves a dead letter back as it was, without its history, and takes it off the dead letters', async () => {
  await kill('one');
  {
    await using letters = await openDeadLetters(url);
    await untilCount(letters, 1);
    expect(await retry(letters, 1)).toMatchObject([
      { messageId: 'one', type: 'order.confirmed', queue: ORDER_CONFIRMED_QUEUE, reason: 'rejected' },
    ]);
    await untilCount(letters, 0);
  }
  const { content, properties } = await take(ORDER_CONFIRMED_QUEUE);
  expect(content.toString()).toBe('{"id":"one"}');
  expect(properties).toMatchObject({ messageId: 'one', type: 'order.confirmed', deliveryMode: 2 });
  // A quorum queue counts its own deliveries: they start from zero.
  expect({ 'x-delivery-count': 0, ...properties.headers }).toEqual({ 'x-delivery-count': 0, traceparent: TRACEPARENT });
}, 30_000);

it('knows one that failed until its limit, whatever it waited for in between', async () => {
  await declareRetries(channel);
  channel.publish(RETRIES_EXCHANGE, 'order.confirmed', Buffer.from('{}'), {
    messageId: 'tired',
    expiration: 1,
    headers: { traceparent: TRACEPARENT, [DELIVERIES_HEADER]: DELIVERY_LIMIT },
  });
  await channel.waitForConfirms();
  channel.reject(await take(ORDER_CONFIRMED_QUEUE), false);
  await using letters = await openDeadLetters(url);
  await untilCount(letters, 1);
  expect(await retry(letters, 1)).toMatchObject([
    { messageId: 'tired', queue: ORDER_CONFIRMED_QUEUE, reason: 'delivery_limit' },
  ]);
  const { properties } = await take(ORDER_CONFIRMED_QUEUE);
  expect({ 'x-delivery-count': 0, ...properties.headers }).toEqual({ 'x-delivery-count': 0, traceparent: TRACEPARENT });
}, 30_000);

it('moves no more than it was asked for', async () => {
  await kill('one');
  await kill('two');
  await using letters = await openDeadLetters(url);
  await untilCount(letters, 2);
  expect(await retry(letters, 1)).toHaveLength(1);
  await untilCount(letters, 1);
}, 30_000);

it('leaves a letter where it is when its queue is gone', async () => {
  await kill('one');
  await channel.deleteQueue(ORDER_CONFIRMED_QUEUE);
  {
    await using letters = await openDeadLetters(url);
    const moving = retry(letters, 1);
    await expect(moving).rejects.toMatchObject({
      code: 'broker_refused',
      why: `there is no queue ${ORDER_CONFIRMED_QUEUE}`,
    });
  }
  await vi.waitFor(async () => expect((await channel.checkQueue(DEAD_LETTERS_QUEUE)).messageCount).toBe(1), {
    timeout: 10_000,
  });
}, 30_000);

it('says with exit code 4 that no broker responds, without the password', async () => {
  const opening = openDeadLetters('amqp://shop_operator:secret@127.0.0.1:1/shop');
  const error = await opening.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'broker_unreachable', what: 'the broker does not respond' });
  expect(`${(error as Error).stack}${JSON.stringify(error)}`).not.toContain('secret');
});

it('does not wait for a frozen broker longer than 5 s', async () => {
  const sockets: Socket[] = [];
  // Accepts and says nothing, as the kernel does for a process that is stopped.
  const frozen = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
  await once(frozen, 'listening');
  const { port } = frozen.address() as { port: number };
  const startedAt = performance.now();
  try {
    await expect(openDeadLetters(`amqp://shop_operator:secret@127.0.0.1:${port}/shop`)).rejects.toMatchObject({
      exitCode: 4,
    });
  } finally {
    for (const socket of sockets) socket.destroy();
    frozen.close();
  }
  expect(performance.now() - startedAt).toBeLessThan(5_000);
}, 10_000);

const ORDER_ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const confirmed = {
  specversion: '1.0',
  id: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  type: 'order.confirmed',
  data: { orderId: ORDER_ID, lines: [{ productId: 1, quantity: 2 }], total: 1_000, currency: 'UAH' },
};

/** Puts this content among the dead letters, as shipping refuses it. */
async function killContent(content: string, messageId?: string): Promise<void> {
  channel.publish(EVENTS_EXCHANGE, 'order.confirmed', Buffer.from(content), {
    ...(messageId !== undefined && { messageId }),
    type: 'order.confirmed',
    headers: { traceparent: TRACEPARENT, [DELIVERIES_HEADER]: 3 },
  });
  await channel.waitForConfirms();
  channel.reject(await take(ORDER_CONFIRMED_QUEUE), false);
}

/** What is there, left where it is. */
async function lookAt(letters: DeadLetters, limit = 100): Promise<DeadLetter[]> {
  const found: DeadLetter[] = [];
  await letters.each(limit, async (letter) => {
    found.push(letter);
    return 'leave';
  });
  return found;
}

it('shows where and why a letter was refused, what it is about, and nothing that an order event does not have', async () => {
  const personal = { ...confirmed, customer: 'Olena', data: { ...confirmed.data, address: 'Kyiv' } };
  await killContent(JSON.stringify(personal), confirmed.id);
  await using letters = await openDeadLetters(url);
  await untilCount(letters, 1);
  expect(await lookAt(letters)).toEqual([
    {
      id: confirmed.id,
      messageId: confirmed.id,
      type: 'order.confirmed',
      orderId: ORDER_ID,
      queue: ORDER_CONFIRMED_QUEUE,
      reason: 'rejected',
      deadLetteredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      times: 1,
      deliveries: 3,
      traceParent: TRACEPARENT,
      bytes: JSON.stringify(personal).length,
      unreadable: null,
      payload: { event: confirmed, otherFields: ['customer', 'data.address'] },
    },
  ]);
}, 30_000);

it('shows a letter that is not an event, under an id made from its content', async () => {
  await killContent('{"id": not JSON');
  await using letters = await openDeadLetters(url);
  await untilCount(letters, 1);
  expect(await lookAt(letters)).toMatchObject([
    {
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      messageId: null,
      orderId: null,
      unreadable: 'the message is not JSON',
      payload: { event: null, otherFields: [] },
    },
  ]);
}, 30_000);

it('keeps a letter with its history however often it is looked at: no look brings it nearer to a limit', async () => {
  await killContent(JSON.stringify(confirmed), confirmed.id);
  await using letters = await openDeadLetters(url);
  await untilCount(letters, 1);
  const [before] = await lookAt(letters);
  for (let looks = 0; looks < 25; looks += 1) expect(await lookAt(letters)).toEqual([before]);
  const message = await take(DEAD_LETTERS_QUEUE);
  expect(Number(message.properties.headers?.['x-delivery-count'] ?? 0)).toBeLessThanOrEqual(10);
}, 60_000);

it('discards and retries only what it is asked to; the others stay', async () => {
  for (const id of ['one', 'two', 'three']) await kill(id);
  await using letters = await openDeadLetters(url);
  await untilCount(letters, 3);
  const retried: string[] = [];
  await letters.each(
    3,
    async ({ id }) => (id === 'one' ? 'discard' : id === 'two' ? 'retry' : 'leave'),
    ({ id }) => retried.push(id),
  );
  expect(retried).toEqual(['two']);
  await untilCount(letters, 1);
  expect((await lookAt(letters)).map(({ id }) => id)).toEqual(['three']);
  const { properties } = await take(ORDER_CONFIRMED_QUEUE);
  expect(properties.messageId).toBe('two');
}, 30_000);

it('leaves every letter where a decision fails', async () => {
  await kill('one');
  {
    await using letters = await openDeadLetters(url);
    await untilCount(letters, 1);
    await expect(letters.each(1, () => Promise.reject(new Error('the log is full')))).rejects.toThrow(
      'the log is full',
    );
  }
  await using letters = await openDeadLetters(url);
  await untilCount(letters, 1);
}, 30_000);
