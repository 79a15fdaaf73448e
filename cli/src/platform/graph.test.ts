import { describe, expect, it } from 'vitest';
import { stopOrder, withDependencies } from './graph.ts';

const shop = [
  { name: 'postgres', dependsOn: [] },
  { name: 'rabbitmq', dependsOn: [] },
  { name: 'catalog', dependsOn: ['postgres'] },
  { name: 'orders', dependsOn: ['catalog', 'postgres', 'rabbitmq'] },
  { name: 'gateway', dependsOn: ['orders'] },
];
const names = (nodes: readonly { name: string }[]) => nodes.map(({ name }) => name);

describe('dependency graph', () => {
  it('takes what is named and everything it depends on, and nothing else', () => {
    expect(names(withDependencies(['catalog'], shop))).toEqual(['postgres', 'catalog']);
    expect(names(withDependencies(['gateway'], shop))).toEqual(names(shop));
  });

  it('refuses an unknown name', () => {
    expect(() => withDependencies(['catlog'], shop)).toThrow(RangeError);
  });

  it('stops dependents before what they depend on, concurrently where possible', () => {
    expect(stopOrder(shop).map(names)).toEqual([['gateway'], ['orders'], ['rabbitmq', 'catalog'], ['postgres']]);
  });

  it('stops a part without the rest', () => {
    expect(stopOrder(shop.filter(({ name }) => name !== 'orders')).map(names)).toEqual([
      ['rabbitmq', 'catalog', 'gateway'],
      ['postgres'],
    ]);
  });

  it('refuses a circle instead of waiting for ever', () => {
    const circle = [
      { name: 'a', dependsOn: ['b'] },
      { name: 'b', dependsOn: ['a'] },
    ];
    expect(() => stopOrder(circle)).toThrow('circular dependency among a, b');
  });
});
