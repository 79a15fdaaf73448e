import { describe, expect, it, vi } from 'vitest';
import { type AmqpReaction, type FakeAmqp, openFakeAmqp } from '../../test/support/fake-amqp.ts';
import { someUpstreams } from '../../test/support/upstreams.ts';
import { openBroker } from './broker.ts';
import type { EdgeUpstreams } from './live-upstreams.ts';
import { createLogger } from './logger.ts';
import { declareTopology } from './topology.ts';

const logger = createLogger({ service: 'kit', instance: 'kit-test', level: 'silent' });

interface ClientOptions {
  readonly setUpTimeoutMs?: number;
  readonly upstreams?: EdgeUpstreams;
  readonly onLost?: () => void;
  readonly onLeave?: () => Promise<void>;
}

/** A client that declares the topology at each connection, to the given limit. */
function connectTo(fake: FakeAmqp, options: ClientOptions = {}) {
  return openBroker({
    url: fake.url,
    logger,
    connectionName: 'kit-test',
    ...options,
    async setUp(model) {
      const channel = await model.createConfirmChannel();
      // The services listen to their channels in the same way.
      channel.on('error', () => undefined);
      await declareTopology(channel);
    },
  });
}

/** Only the first connection meets the fault. */
const first = (reaction: AmqpReaction) => (connection: number) => (connection === 1 ? reaction : 'respond');

describe('a connection to the broker', () => {
  it.each(['channel.open', 'confirm.select', 'exchange.declare', 'queue.declare', 'queue.bind'] as const)(
    'is made again when the broker is lost at %s, and the process goes on',
    async (method) => {
      const onLost = vi.fn();
      const faulty = first('drop');
      await using fake = await openFakeAmqp((connection, name) => (name === method ? faulty(connection) : 'respond'));
      await using broker = await connectTo(fake, { onLost });
      await expect.poll(() => broker.connected, { timeout: 5_000 }).toBe(true);
      expect(fake.connections).toBe(2);
      expect(onLost).toHaveBeenCalledOnce();
    },
  );

  it('is made again when its set-up takes longer than its limit', async () => {
    const faulty = first('ignore');
    await using fake = await openFakeAmqp((connection, name) =>
      name === 'queue.declare' ? faulty(connection) : 'respond',
    );
    await using broker = await connectTo(fake, { setUpTimeoutMs: 200 });
    await expect.poll(() => broker.connected, { timeout: 5_000 }).toBe(true);
    expect(fake.connections).toBe(2);
  });

  it('is made again when the broker neither takes a declaration nor confirms the end of the connection', async () => {
    const fails = vi.fn(async () => {
      if (fails.mock.calls.length === 1) throw new Error('a declaration was refused');
    });
    await using fake = await openFakeAmqp((_, name) => (name === 'connection.close' ? 'ignore' : 'respond'));
    await using broker = await openBroker({ url: fake.url, logger, connectionName: 'kit-test', setUp: fails });
    await expect.poll(() => broker.connected, { timeout: 5_000 }).toBe(true);
  });

  it('is closed although the broker does not confirm its end', async () => {
    await using fake = await openFakeAmqp((_, name) => (name === 'connection.close' ? 'ignore' : 'respond'));
    const broker = await connectTo(fake);
    await expect.poll(() => broker.connected, { timeout: 5_000 }).toBe(true);
    await expect(broker[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });
});

describe('a broker whose address changes', () => {
  const respond = () => 'respond' as const;

  it('is connected to there, and its former connection is closed when what it carries is over', async () => {
    await using former = await openFakeAmqp(respond);
    await using next = await openFakeAmqp(respond);
    const { edge: upstreams, set } = someUpstreams();
    const inFlight = Promise.withResolvers<void>();
    const calls: string[] = [];
    const onLost = () => void calls.push('lost');
    const onLeave = () => {
      calls.push('leave');
      return inFlight.promise;
    };
    await using broker = await connectTo(former, { upstreams, onLost, onLeave });
    await expect.poll(() => broker.connected, { timeout: 5_000 }).toBe(true);
    set({ address: new URL(next.url).host });
    await expect.poll(() => calls).toEqual(['leave', 'lost']);
    await expect.poll(() => broker.connected, { timeout: 5_000 }).toBe(true);
    expect([former.connections, next.connections, former.open, next.open]).toEqual([1, 1, 1, 1]);
    inFlight.resolve();
    await expect.poll(() => former.open, { timeout: 5_000 }).toBe(0);
    expect(calls).toEqual(['leave', 'lost']);
    expect(broker.connected).toBe(true);
  });

  it('is followed from an address where it does not respond', async () => {
    await using silent = await openFakeAmqp(() => 'ignore');
    await using next = await openFakeAmqp(respond);
    const { edge: upstreams, set } = someUpstreams();
    await using broker = await connectTo(silent, { upstreams });
    await expect.poll(() => silent.connections, { timeout: 5_000 }).toBe(1);
    set({ address: new URL(next.url).host });
    await expect.poll(() => broker.connected, { timeout: 5_000 }).toBe(true);
    expect(next.connections).toBe(1);
    await expect.poll(() => silent.open, { timeout: 10_000 }).toBe(0);
  });

  it('is not left for an entry that changes something else', async () => {
    await using fake = await openFakeAmqp(respond);
    const { edge: upstreams, set } = someUpstreams();
    await using broker = await connectTo(fake, { upstreams });
    await expect.poll(() => broker.connected, { timeout: 5_000 }).toBe(true);
    set({ address: new URL(fake.url).host, weight: 1 });
    set();
    expect(broker.connected).toBe(true);
    await broker[Symbol.asyncDispose]();
    expect(fake.connections).toBe(1);
  });
});
