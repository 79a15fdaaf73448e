import { expect, it } from 'vitest';
import { areAdjacent, components, familyOf, mechanisms, placesOf, plainComponents, scopes } from './vocabulary.ts';

it('has the services, databases, edges and releases of the topology', () => {
  const kinds = Object.groupBy(plainComponents, (name) =>
    name.includes(':') ? (name.split(':')[0] as string) : 'plain',
  );
  expect(kinds.network).toHaveLength(11);
  expect(kinds.database).toHaveLength(5);
  expect(kinds.release).toHaveLength(6);
  expect(kinds.plain).toEqual([
    ...['gateway', 'orders', 'catalog', 'stock', 'payments', 'shipping'],
    ...['postgres', 'rabbitmq', 'load', 'telemetry', 'none'],
  ]);
});

it('has each word once', () => {
  for (const words of [components, mechanisms, scopes]) expect(new Set(words).size).toBe(words.length);
});

it('leaves a guess one chance in more than 500', () => {
  expect(plainComponents.length * mechanisms.length).toBeGreaterThan(500);
});

it.each([
  ['network:orders-payments', 'payments', true],
  ['network:orders-payments', 'orders', true],
  ['network:orders-payments', 'network:orders-stock', true],
  ['network:orders-payments', 'shipping', false],
  ['network:orders-db', 'postgres', true],
  ['database:stock', 'postgres', true],
  ['database:stock', 'stock', true],
  ['replica:orders-2', 'orders', true],
  ['release:payments', 'payments', true],
  ['load', 'gateway', true],
  ['payments', 'payments', false],
  ['none', 'payments', false],
])('%s and %s are adjacent: %s', (one, other, expected) => {
  expect(areAdjacent(one, other)).toBe(expected);
  expect(areAdjacent(other, one)).toBe(expected);
});

it('has a family for each mechanism, and places of the topology for each component', () => {
  expect(mechanisms.filter((one) => one !== 'none' && familyOf(one) === 'none')).toEqual([]);
  const placeless = plainComponents.filter((name) => placesOf(name).length === 0);
  expect(placeless.filter((name) => !name.startsWith('flag:'))).toEqual(['telemetry', 'none']);
});
