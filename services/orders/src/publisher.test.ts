import { EventEmitter } from 'node:events';
import type { BrokerOptions } from '@shop/kit/broker.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openPublisher, type Publisher } from './publisher.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const row = { id: 'message-1', orderId: 'order-1', type: 'order.confirmed', payload: '{"a":1}', traceParent: null };

const broker = vi.hoisted(() => ({
  options: undefined as BrokerOptions | undefined,
  blocked: undefined as string | undefined,
}));
vi.mock('@shop/kit/broker.ts', () => ({
  openBroker: async (options: BrokerOptions) => {
    broker.options = options;
    return {
      connected: true,
      get blocked() {
        return broker.blocked;
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  },
}));

/** A channel that keeps the confirms back until the test settles them. */
class FakeChannel extends EventEmitter {
  readonly published: { key: string; options: Record<string, unknown>; settle: (error: unknown) => void }[] = [];
  closed = false;
  assertExchange = async () => undefined;
  assertQueue = async () => undefined;
  bindQueue = async () => undefined;
  publish(
    _exchange: string,
    key: string,
    _body: Buffer,
    options: Record<string, unknown>,
    settle: (e: unknown) => void,
  ) {
    this.published.push({ key, options, settle });
    return true;
  }
  async close() {
    this.closed = true;
  }
}

async function aPublisher(options: { isMandatory?: boolean } = {}) {
  const channels: FakeChannel[] = [];
  let refusals = 0;
  const createConfirmChannel = async () => {
    if (refusals > 0) {
      refusals -= 1;
      throw new Error('channel closed by server: 403');
    }
    const channel = new FakeChannel();
    channels.push(channel);
    return channel;
  };
  const publisher: Publisher = await openPublisher({
    url: 'amqp://127.0.0.1',
    logger,
    instance: 'orders-1',
    ...options,
  });
  const connect = () => broker.options?.setUp({ createConfirmChannel } as never, 'amqp://127.0.0.1');
  const refuse = (count: number) => {
    refusals = count;
  };
  return { publisher, channels, connect, refuse };
}

describe('the publisher', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    broker.blocked = undefined;
  });
  afterEach(() => void vi.useRealTimers());

  it('is not ready, and publishes nothing, before it is connected', async () => {
    const { publisher } = await aPublisher();
    expect(publisher.ready).toBe(false);
    await expect(publisher.publish(row)).rejects.toThrow('not connected');
  });

  it('resolves when the broker confirms a persistent message that asks for no route', async () => {
    const { publisher, channels, connect } = await aPublisher();
    await connect();
    const done = publisher.publish(row);
    const [message] = channels[0]?.published ?? [];
    expect(message?.key).toBe('order.confirmed');
    expect(message?.options).toMatchObject({ mandatory: false, persistent: true, messageId: 'message-1' });
    message?.settle(null);
    await expect(done).resolves.toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects when the broker returned the message, although it confirms it', async () => {
    const { publisher, channels, connect } = await aPublisher();
    await connect();
    const error = vi.spyOn(logger, 'error');
    const done = publisher.publish(row);
    channels[0]?.emit('return', {
      properties: { messageId: 'message-1' },
      fields: { replyCode: 312, replyText: 'NO_ROUTE' },
    });
    // Said by who publishes, in the order's trace, not by the channel, which is in none.
    expect(error).not.toHaveBeenCalled();
    channels[0]?.published[0]?.settle(null);
    await expect(done).rejects.toThrow('returned');
    expect(error).toHaveBeenCalledExactlyOnceWith(
      { messageId: 'message-1', replyCode: 312, replyText: 'NO_ROUTE' },
      expect.stringContaining('(312 NO_ROUTE)'),
    );
    error.mockRestore();
  });

  it('asks for a route with the seeded bug mandatory-unbound, which is then returned', async () => {
    const { publisher, channels, connect } = await aPublisher({ isMandatory: true });
    await connect();
    const done = publisher.publish(row);
    expect(channels[0]?.published[0]?.options).toMatchObject({ mandatory: true });
    channels[0]?.emit('return', {
      properties: { messageId: 'message-1' },
      fields: { replyCode: 312, replyText: 'NO_ROUTE' },
    });
    channels[0]?.published[0]?.settle(null);
    await expect(done).rejects.toThrow('returned');
  });

  it('rejects when the broker refuses the message', async () => {
    const { publisher, channels, connect } = await aPublisher();
    await connect();
    const done = publisher.publish(row);
    channels[0]?.published[0]?.settle(new Error('nacked'));
    await expect(done).rejects.toThrow('did not take');
  });

  it('gives up after 5 s without a confirm, and leaves the silent channel for another', async () => {
    const { publisher, channels, connect } = await aPublisher();
    await connect();
    const done = expect(publisher.publish(row)).rejects.toThrow('no confirm within 5000 ms');
    await vi.advanceTimersByTimeAsync(5_000);
    await done;
    expect(channels.map(({ closed }) => closed)).toEqual([true, false]);
    expect(publisher.ready).toBe(true);
  });

  it('opens another channel when the broker has closed its own, after pauses that grow until a confirm', async () => {
    const { publisher, channels, connect } = await aPublisher();
    await connect();
    for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
      channels.at(-1)?.emit('close');
      await vi.advanceTimersByTimeAsync(pauseMs - 1);
      expect(publisher.ready).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(publisher.ready).toBe(true);
    }
    const done = publisher.publish(row);
    channels.at(-1)?.published[0]?.settle(null);
    await done;
    channels.at(-1)?.emit('close');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(publisher.ready).toBe(true);
  });

  it('tries again when a channel cannot be opened, and leaves that to the next connection once there is one', async () => {
    const { publisher, channels, connect, refuse } = await aPublisher();
    await connect();
    refuse(2);
    channels[0]?.emit('close');
    await vi.advanceTimersByTimeAsync(1_000 + 2_000);
    expect(publisher.ready).toBe(false);
    await vi.advanceTimersByTimeAsync(4_000);
    expect([publisher.ready, channels.length]).toEqual([true, 2]);
    channels[1]?.emit('close');
    broker.options?.onLost?.();
    await connect();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([publisher.ready, channels.length]).toEqual([true, 3]);
  });

  it('opens no channel once it is closed', async () => {
    const { publisher, channels, connect } = await aPublisher();
    await connect();
    await publisher[Symbol.asyncDispose]();
    channels[0]?.emit('close');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(channels).toHaveLength(1);
  });

  it('is not ready while the broker takes no publishes', async () => {
    const { publisher, connect } = await aPublisher();
    await connect();
    broker.blocked = 'low on disk';
    expect(publisher.ready).toBe(false);
  });

  it('is not ready from the loss of the connection to the next one', async () => {
    const { publisher, connect } = await aPublisher();
    await connect();
    broker.options?.onLost?.();
    expect(publisher.ready).toBe(false);
    await connect();
    expect(publisher.ready).toBe(true);
  });
});
