import { expect, it } from 'vitest';
import { eventPayload } from './event-fields.ts';

const orderId = '0f8fad5b-d9cb-469f-a165-70867728950e';
const read = (value: unknown) => eventPayload(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));

it('keeps the fields of an order event, of version 1 and 2', () => {
  const one = { id: 'a', data: { orderId, lines: [{ productId: 1, quantity: 2 }], total: 100, currency: 'UAH' } };
  expect(read(one)).toEqual({ fields: { event: one, otherFields: [] }, orderId });
  const lines = [{ productId: 1, quantity: 2, unitPrice: 50 }];
  const two = { id: 'a', data: { orderId, lines, total: { amount: 100, currency: 'UAH' } } };
  expect(read(two)).toEqual({ fields: { event: two, otherFields: [] }, orderId });
});

it('names all other fields, without their values', () => {
  const event = {
    id: 'a',
    customer: 'Olena',
    data: {
      orderId,
      lines: [{ productId: 1, note: 'ring Olena' }],
      total: { amount: 1, card: '4111' },
      email: 'o@x.ua',
    },
  };
  const { fields } = read(event);
  expect(fields).toEqual({
    event: { id: 'a', data: { orderId, lines: [{ productId: 1 }], total: { amount: 1 } } },
    otherFields: ['customer', 'data.email'],
  });
});

it('keeps no long text and nothing but text and numbers in a field', () => {
  const { fields, orderId: found } = read({ id: 'x'.repeat(200), type: { nested: 'Olena' }, data: { orderId: 4711 } });
  expect(fields.event).toEqual({ id: `${'x'.repeat(100)}...`, data: { orderId: 4711 } });
  expect(found).toBeNull();
});

it.each(['{"id": not JSON', '[]', '"text"', '4711', 'null', ''])('has no event in %j', (text) => {
  expect(read(text)).toEqual({ fields: { event: null, otherFields: [] }, orderId: null });
});
