import { DEAD_LETTERS_QUEUE, ORDER_CONFIRMED_QUEUE, RETRIES_QUEUE } from '@shop/kit/topology.ts';
import { describe, expect, it } from 'vitest';
import { describeAlarms, describeBindings } from './run-ops-broker.ts';
import { describeClocks } from './run-ops-clock.ts';

// Goal: what an operator reads says what is wrong, in 80 columns.
const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length));

describe('the text', () => {
  it('of alarms has limit and measurement, and how many publishers are blocked', () => {
    const text = describeAlarms({
      alarms: [
        { resource: 'disk', isOn: true, limitBytes: 1_000_000_000_000_000, measuredBytes: null },
        { resource: 'memory', isOn: false, limitBytes: 10_110_604_083, measuredBytes: 225_693_696 },
      ],
      blockedConnections: 6,
    });
    expect(text).toMatch(/^disk +on +at least 931322\.6 GB free +unknown free$/m);
    expect(text).toMatch(/^memory +off +at most 9\.4 GB used +215 MB used$/m);
    expect(text).toContain('connections that publish and are blocked: 6');
    expect(widest(text)).toBeLessThanOrEqual(80);
  });

  it('of bindings has the longest of the shop in 80 columns', () => {
    const text = describeBindings([
      { exchange: 'shop.events', queue: ORDER_CONFIRMED_QUEUE, routingKey: 'order.confirmed.v2', state: 'missing' },
      { exchange: 'shipping.redeliveries', queue: RETRIES_QUEUE, routingKey: '', state: 'bound' },
      { exchange: 'shop.dead-letters', queue: DEAD_LETTERS_QUEUE, routingKey: '', state: 'unknown' },
    ]);
    expect(text).toMatch(/^missing +shop\.events -> shipping\.order-confirmed \(order\.confirmed\.v2\)$/m);
    expect(text).toMatch(/^unknown +shop\.dead-letters -> shipping\.dead-letters$/m);
    expect(widest(text)).toBeLessThanOrEqual(80);
  });

  it('of clocks has the offset, or why there is none', () => {
    const text = describeClocks([
      { name: 'shipping-1', service: 'shipping', offsetMs: -3_600_000, state: 'wrong' },
      { name: 'orders-2', service: 'orders', offsetMs: null, state: 'unknown', why: 'stopped' },
    ]);
    expect(text).toMatch(/^shipping-1 +wrong +-1h$/m);
    expect(text).toMatch(/^orders-2 +unknown +stopped$/m);
  });
});
