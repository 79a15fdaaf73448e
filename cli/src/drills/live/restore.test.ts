import { expect, it } from 'vitest';
import { noOverrides } from '../../platform/overrides.ts';
import { operationsBack } from './restore.ts';

const before = {
  replicas: { orders: 2 },
  overrides: { ...noOverrides, onStandby: ['orders-db'], draining: ['orders-1'] },
};

it('has nothing to change back where nothing was changed', () => {
  expect(operationsBack(before, before)).toEqual([]);
});

it('scales, reroutes and drains back, in both directions', () => {
  const after = {
    replicas: { orders: 3, stock: 2 },
    overrides: { ...noOverrides, onStandby: ['orders-broker'], draining: ['orders-2'] },
  };
  expect(operationsBack(before, after)).toEqual([
    { kind: 'scale', replicas: { orders: 2, stock: 1 } },
    { kind: 'reroute', edge: 'orders-broker', via: 'primary' },
    { kind: 'reroute', edge: 'orders-db', via: 'standby' },
    { kind: 'drain', instance: 'orders-2', undo: true },
    { kind: 'drain', instance: 'orders-1', undo: false },
  ]);
});
