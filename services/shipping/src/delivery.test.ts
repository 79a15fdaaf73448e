import { randomUUID } from 'node:crypto';
import { createOrderConfirmed } from '@shop/kit/events.ts';
import { DatabaseUnavailableError } from '@shop/kit/failures.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { DELIVERY_LIMIT } from '@shop/kit/topology.ts';
import { describe, expect, it } from 'vitest';
import { type Delivery, settle } from './delivery.ts';
import type { Outcome } from './metrics.ts';
import type { Shipments } from './repository.ts';

const logger = createLogger({ service: 'shipping', instance: 'shipping-test', level: 'silent' });
const noDelay = { hold: { baseMs: 1, maxMs: 1, limitMs: 60_000 }, retry: { baseMs: 1, maxMs: 1 } };
const hour = { baseMs: 3_600_000, maxMs: 3_600_000, limitMs: 3_600_000 };
const event = createOrderConfirmed(randomUUID(), new Date(), {
  orderId: randomUUID(),
  lines: [{ productId: 1, quantity: 2 }],
  total: 90_000,
  currency: 'UAH',
});

const aDelivery = (body: unknown = event, earlierDeliveries = 0): Delivery => ({
  content: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  earlierDeliveries,
});

/** Settles a delivery with a `receive` that does these things in turn, the last one again and again. */
function settling(receive: readonly (boolean | Error)[], options: { backoffs?: typeof noDelay } = {}) {
  const counted: Outcome[] = [];
  const delays: number[] = [];
  const types: string[] = [];
  const stop = new AbortController();
  let calls = 0;
  const shipments: Pick<Shipments, 'receive'> = {
    async receive() {
      const result = receive[Math.min(calls, receive.length - 1)];
      calls += 1;
      if (result instanceof Error) throw result;
      return result === true;
    },
  };
  const dependencies = {
    shipments: shipments as Shipments,
    count: (outcome: Outcome) => counted.push(outcome),
    countEvent: (type: string) => types.push(type),
    recordDelay: (seconds: number) => delays.push(seconds),
    logger,
    failpoint: async () => undefined,
    backoffs: options.backoffs ?? noDelay,
  };
  return {
    counted,
    delays,
    types,
    stop,
    calls: () => calls,
    settle: (delivery: Delivery) => settle(delivery, dependencies, stop.signal),
  };
}

const unavailable = new DatabaseUnavailableError('unavailable');
const broken = new Error('an unexpected failure');

describe('a delivery', () => {
  it('new -> acknowledged, shipped', async () => {
    const shipping = settling([true]);
    expect(await shipping.settle(aDelivery())).toEqual({ kind: 'ack' });
    expect(shipping.counted).toEqual(['shipped']);
  });

  it('new -> its delay is recorded, from the time of the event; one that was shipped before has none', async () => {
    const [shipped, repeated] = [settling([true]), settling([false])];
    const anHourAgo = { ...event, time: new Date(Date.now() - 3_600_000).toISOString() };
    await shipped.settle(aDelivery(anHourAgo));
    await repeated.settle(aDelivery(anHourAgo));
    expect(shipped.delays).toEqual([expect.closeTo(3_600, -2)]);
    expect(repeated.delays).toEqual([]);
  });

  it.each([undefined, 7, 'yesterday'])('whose event has the time %j is shipped without a delay', async (time) => {
    const shipping = settling([true]);
    expect(await shipping.settle(aDelivery({ ...event, time }))).toEqual({ kind: 'ack' });
    expect(shipping.delays).toEqual([]);
  });

  it('processed before -> acknowledged, duplicate', async () => {
    const shipping = settling([false]);
    expect(await shipping.settle(aDelivery())).toEqual({ kind: 'ack' });
    expect(shipping.counted).toEqual(['duplicate']);
  });

  it('whichever version of the event it is -> its version is counted; of one that cannot be read none is', async () => {
    const shipping = settling([true, false]);
    await shipping.settle(aDelivery());
    await shipping.settle(aDelivery({ ...event, type: 'order.confirmed.v2' }));
    await shipping.settle(aDelivery({ ...event, type: 'order.confirmed.v3' }));
    expect(shipping.types).toEqual(['order.confirmed', 'order.confirmed.v2']);
  });

  it.each([
    ['not JSON', '{"id":'],
    ['not UTF-8', Buffer.from([0xff, 0xfe]).toString('latin1')],
    ['an array', []],
    ['no id', { ...event, id: undefined }],
    ['no order', { ...event, data: {} }],
    ['an order id that is not a GUID', { ...event, data: { ...event.data, orderId: 'order-1' } }],
    ['an unknown type', { ...event, type: 'order.cancelled' }],
  ])('%s -> dead letters immediately, without a query', async (_title, body) => {
    const shipping = settling([true]);
    expect(await shipping.settle(aDelivery(body))).toEqual({ kind: 'dead-letter' });
    expect(shipping.calls()).toBe(0);
    expect(shipping.counted).toEqual(['dead_lettered']);
  });

  it("last year's, without the optional fields -> shipped", async () => {
    const old = { id: event.id, data: { orderId: event.data.orderId } };
    expect(await settling([true]).settle(aDelivery(old))).toEqual({ kind: 'ack' });
  });

  it("tomorrow's, with unknown fields -> shipped", async () => {
    const later = { ...event, dataschema: 'x', data: { ...event.data, giftWrap: true } };
    expect(await settling([true]).settle(aDelivery(later))).toEqual({ kind: 'ack' });
  });

  it('database unavailable -> held until it is back, costing no delivery', async () => {
    const shipping = settling([...Array<Error>(DELIVERY_LIMIT * 2).fill(unavailable), true]);
    expect(await shipping.settle(aDelivery())).toEqual({ kind: 'ack' });
    expect(shipping.calls()).toBe(DELIVERY_LIMIT * 2 + 1);
  });

  it('database unavailable for longer than a message may be held -> retried later, which costs no delivery', async () => {
    const shipping = settling([unavailable], { backoffs: { ...noDelay, hold: { ...noDelay.hold, limitMs: 0 } } });
    expect(await shipping.settle(aDelivery(event, 3))).toEqual({ kind: 'retry', afterMs: 1, deliveries: 3 });
  });

  it('database unavailable, service stopping -> left to the broker, without waiting for the backoff', async () => {
    const shipping = settling([unavailable], { backoffs: { hold: hour, retry: hour } });
    const settled = shipping.settle(aDelivery());
    await expect.poll(shipping.calls).toBe(1);
    shipping.stop.abort();
    expect(await settled).toEqual({ kind: 'unacked' });
  });

  it('another failure -> retried after a back-off; to the dead letters when it was the last delivery', async () => {
    const shipping = settling([broken]);
    expect(await shipping.settle(aDelivery(event, 0))).toEqual({
      kind: 'retry',
      afterMs: expect.any(Number),
      deliveries: 1,
    });
    expect(await shipping.settle(aDelivery(event, DELIVERY_LIMIT))).toEqual({ kind: 'dead-letter' });
    expect(shipping.counted).toEqual(['retried', 'dead_lettered']);
  });

  it('one too many, because the process ended with the last -> dead letters, not tried', async () => {
    const shipping = settling([true]);
    expect(await shipping.settle(aDelivery(event, DELIVERY_LIMIT + 1))).toEqual({ kind: 'dead-letter' });
    expect(shipping.calls()).toBe(0);
    expect(shipping.counted).toEqual(['dead_lettered']);
  });
});
