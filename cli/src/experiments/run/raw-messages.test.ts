import { parseOrderConfirmed } from '@shop/kit/events.ts';
import { describe, expect, it } from 'vitest';
import { type OutboxEvent, type Preset, rawMessages } from './raw-messages.ts';

const NOW = new Date('2026-11-21T16:00:00Z');
const anEvent = (digit: string): OutboxEvent => {
  const orderId = `${digit}0000000-0000-4000-8000-000000000000`;
  const id = `${digit}1111111-0000-4000-8000-000000000000`;
  const data = { orderId, lines: [{ productId: 1, quantity: 2 }], total: 90_000, currency: 'UAH' };
  return { id, type: 'order.confirmed', orderId, payload: { id, type: 'order.confirmed', data }, traceParent: null };
};
const events = [anEvent('1'), anEvent('2')];
const idsOf = (preset: Preset) => rawMessages(preset, events, NOW).map(({ messageId }) => messageId);

describe('messages about orders', () => {
  it('duplicate: the same content under the same id', () => {
    expect(idsOf('duplicate')).toEqual(events.map(({ id }) => id));
    const [first] = rawMessages('duplicate', events, NOW);
    expect(JSON.parse(String(first?.content))).toEqual(events[0]?.payload);
  });

  it('swap: the later one first', () => {
    expect(idsOf('swap')).toEqual(events.map(({ id }) => id).reverse());
  });

  it('old: can be read, with defaults for what is missing', () => {
    const [first] = rawMessages('old', events, NOW);
    expect(parseOrderConfirmed(first?.content as Buffer)).toEqual({
      messageId: events[0]?.id,
      type: 'order.confirmed',
      time: new Date('2025-11-21T16:00:00.000Z'),
      orderId: events[0]?.orderId,
      lines: [{ productId: 1, quantity: 2 }],
      total: 0,
      currency: 'UAH',
    });
    expect(JSON.parse(String(first?.content))).toMatchObject({ time: '2025-11-21T16:00:00.000Z' });
  });
});

describe('the next version', () => {
  it('v2: of the versioned type, about the same order under the same id', () => {
    const [first] = rawMessages('v2', events, NOW);
    expect(first).toMatchObject({ messageId: events[0]?.id, type: 'order.confirmed.v2' });
    expect(parseOrderConfirmed(first?.content as Buffer)).toMatchObject({
      type: 'order.confirmed.v2',
      orderId: events[0]?.orderId,
      lines: [{ productId: 1, quantity: 2 }],
    });
  });
});

describe('poison', () => {
  it.each(['not-json', 'wrong-type', 'no-id', 'large'] as const)('%s cannot be read', (preset) => {
    const [only, ...others] = rawMessages(preset, [], NOW);
    expect(() => parseOrderConfirmed(only?.content as Buffer)).toThrow(/the message is not/);
    expect(others).toEqual([]);
  });

  it('large has more than a megabyte', () => {
    expect(rawMessages('large', [], NOW)[0]?.content.length).toBeGreaterThan(1024 * 1024);
  });

  it('unknown-event can be read and is of a type without a consumer', () => {
    expect(parseOrderConfirmed(rawMessages('unknown-event', [], NOW)[0]?.content as Buffer).type).toBe(
      'order.teleported',
    );
  });

  it('no-id has none as a property either', () => {
    expect(rawMessages('no-id', [], NOW)[0]).not.toHaveProperty('messageId');
  });
});
