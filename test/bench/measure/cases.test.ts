import { expect, it } from 'vitest';
import { alternate, type Case } from './cases.ts';

const caseOf = (name: string, order: string[], perSecond: readonly number[]): Case => {
  let round = 0;
  return {
    name,
    async run() {
      order.push(name);
      const done = perSecond[round++] as number;
      return { done, failed: 0, elapsedMs: 1000, p50Ms: 1, p99Ms: 2, cpuMs: { postgres: done * 2, node: done } };
    },
  };
};

it('alternates cases and gives medians with ranges, and CPU per piece of work', async () => {
  const order: string[] = [];
  const cases = [caseOf('a', order, [10, 30, 20]), caseOf('b', order, [1, 1, 1])];
  const [a] = await alternate(cases, { rounds: 3, say() {} });
  expect(order.join('')).toBe('abbaab');
  expect(a).toEqual({
    name: 'a',
    failed: 0,
    perSecond: { median: 20, min: 10, max: 30 },
    p50Ms: { median: 1, min: 1, max: 1 },
    p99Ms: { median: 2, min: 2, max: 2 },
    cpuMs: { median: 3, min: 3, max: 3 },
    cpuMsBy: { postgres: 2, node: 1 },
  });
});
