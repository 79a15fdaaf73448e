/** Events fit their schemas, and no schema breaks a reader of the last release. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventSchemas } from '@shop/kit/event-schemas.ts';
import { createOrderConfirmed, createOrderConfirmedV2, parseOrderConfirmed } from '@shop/kit/events.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { breaksOfSchema, type Schema } from './compare-schemas.ts';
import { contractsDir, lastRelease, releasedFiles } from './released.ts';

type EventType = keyof typeof eventSchemas;
const types = Object.keys(eventSchemas) as EventType[];
const orderId = randomUUID();
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Schema;
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));

/** The same order in each version. */
const examples = {
  'order.confirmed': createOrderConfirmed(randomUUID(), new Date(), {
    orderId,
    lines: [{ productId: 1, quantity: 2 }],
    total: 90_000,
    currency: 'UAH',
  }),
  'order.confirmed.v2': createOrderConfirmedV2(randomUUID(), new Date(), {
    orderId,
    lines: [{ productId: 1, quantity: 2, unitPrice: 45_000 }],
    total: { amount: 90_000, currency: 'UAH' },
  }),
} satisfies Record<EventType, object>;

describe.each(types)('%s', (type) => {
  it('as it is published fits its schema', () => {
    const isValid = new Ajv2020({ strict: true, formats: { 'date-time': true } }).compile(eventSchemas[type]);
    expect([isValid(examples[type]), isValid.errors]).toEqual([true, null]);
    expect(isValid({ ...examples[type], data: {} })).toBe(false);
  });

  it('says the same to a reader as the other version', () => {
    const { messageId: _id, type: _type, ...said } = parseOrderConfirmed(bytes(examples[type]));
    expect(said).toMatchObject({ orderId, lines: [{ productId: 1, quantity: 2 }], total: 90_000, currency: 'UAH' });
  });
});

it('every event type of the last release is still there, and none breaks its readers', () => {
  expect(types).toEqual(expect.arrayContaining([...releasedFiles('events')]));
  const breaks = releasedFiles('events').flatMap((type) =>
    breaksOfSchema(
      read(join(lastRelease(), `events/${type}.json`)),
      read(join(contractsDir, `events/${type}.json`)),
      'response',
      type,
    ),
  );
  expect(breaks).toEqual([]);
});

/** An outbox keeps its rows for 365 days (docs/scaling.md), so an event may be read up to a year later. */
describe('a tolerant reader', () => {
  const { id, data } = examples['order.confirmed'];
  it.each([
    [
      "last year's event, with less and with fields that are gone",
      { id, time: '2025-11-21T10:00:00Z', data: { orderId, lines: data.lines, warehouse: 'west' }, schemaUrl: '/0' },
      { type: 'order.confirmed', lines: data.lines, total: 0, currency: 'UAH' },
    ],
    ['one with nothing but its ids', { id, data: { orderId } }, { lines: [], total: 0, currency: 'UAH' }],
    [
      "tomorrow's event, with more",
      {
        ...examples['order.confirmed'],
        dataschema: 'x',
        data: { ...data, giftWrap: true, lines: [{ productId: 1, quantity: 2, gift: {} }] },
      },
      { total: 90_000, currency: 'UAH' },
    ],
    [
      'version 2 without its currency',
      { ...examples['order.confirmed.v2'], data: { orderId, total: { amount: 5 } } },
      { type: 'order.confirmed.v2', lines: [], total: 5, currency: 'UAH' },
    ],
  ])('takes %s', (_title, event, expected) => {
    expect(parseOrderConfirmed(bytes(event))).toMatchObject({
      messageId: id === event.id ? id : event.id,
      orderId,
      ...expected,
    });
  });

  it.each([
    ['no order id', { id, data: {} }],
    ['a total as text', { id, data: { orderId, total: '90000' } }],
    ['lines that are none', { id, data: { orderId, lines: 'two' } }],
  ])('refuses one with %s, without repeating it', (_title, event) => {
    expect(() => parseOrderConfirmed(bytes(event))).toThrow(/is not an order\.confirmed event: \/data/);
  });
});
