import { expect, it } from 'vitest';
import { touchedBy } from './touched-by.ts';

const edges = [
  { name: 'orders-payments', from: 'orders', to: 'payments', listen: '127.0.0.1:5001', upstream: '127.0.0.1:4001' },
  { name: 'orders-stock', from: 'orders', to: 'stock', listen: '127.0.0.1:5002', upstream: '127.0.0.1:4002' },
];

const span = (
  attributes: Readonly<Record<string, string | number>>,
  kind: 'client' | 'server' | 'producer' = 'client',
) => ({
  service: 'orders',
  kind,
  database: attributes['db.system.name'] === undefined ? undefined : 'orders',
  attributes,
});

it.each([
  [
    'a service that was called and has no span',
    span({ 'server.address': '127.0.0.1', 'server.port': 5001 }),
    'payments',
  ],
  ['one that is called directly', span({ 'server.address': '127.0.0.1', 'server.port': 4002 }), 'stock'],
  ['the database server', span({ 'db.system.name': 'postgresql' }), 'postgres'],
  ['the broker', span({ 'messaging.system': 'rabbitmq' }, 'producer'), 'rabbitmq'],
])('names %s', (_what, one, called) => {
  expect(touchedBy([one], edges)).toEqual(['orders', called]);
});

it.each([
  ['its server', span({ 'server.address': '127.0.0.1', 'server.port': 5001 }, 'server')],
  ['an address that is of no edge', span({ 'server.address': '127.0.0.1', 'server.port': 9 })],
])('names nothing else for %s', (_what, one) => {
  expect(touchedBy([one], edges)).toEqual(['orders']);
});
