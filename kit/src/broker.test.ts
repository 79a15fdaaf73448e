import { describe, expect, it, vi } from 'vitest';
import { type AmqpReaction, type FakeAmqp, openFakeAmqp } from '../../test/support/fake-amqp.ts';
import { openBroker } from './broker.ts';
import { createLogger } from './logger.ts';
import { declareTopology } from './topology.ts';

const logger = createLogger({ service: 'kit', instance: 'kit-test', level: 'silent' });

/** A client that declares the topology at each connection, to the given limit. */
function connectTo(fake: FakeAmqp, options: { setUpTimeoutMs?: number; onLost?: () => void } = {}) {
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
