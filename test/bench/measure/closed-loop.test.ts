import { expect, it } from 'vitest';
import { closedLoop } from './closed-loop.ts';

it('does as many pieces of work as configured, never more concurrently than it has clients', async () => {
  let concurrency = 0;
  let most = 0;
  const result = await closedLoop(3, { count: 10 }, async () => {
    concurrency += 1;
    most = Math.max(most, concurrency);
    await Promise.resolve();
    concurrency -= 1;
  });
  expect(result.done).toBe(10);
  expect(most).toBe(3);
});

it('throws the first failure when more than one in a hundred failed, and counts fewer', async () => {
  let calls = 0;
  const failing = (every: number) => async () => {
    calls += 1;
    if (calls % every === 0) throw new Error(`refused ${calls}`);
  };
  await expect(closedLoop(1, { count: 100 }, failing(20))).rejects.toThrow('refused 20');
  calls = 0;
  expect(await closedLoop(1, { count: 100 }, failing(100))).toMatchObject({ done: 99, failed: 1 });
});
