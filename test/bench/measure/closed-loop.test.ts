import { expect, it } from 'vitest';
import { closedLoop, percentile } from './closed-loop.ts';

it('does as many pieces of work as it was told, never more at once than it has clients', async () => {
  let atOnce = 0;
  let most = 0;
  const result = await closedLoop(3, { count: 10 }, async () => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    await Promise.resolve();
    atOnce -= 1;
  });
  expect(result.done).toBe(10);
  expect(most).toBe(3);
});

it('ends with the first failure instead of counting it', async () => {
  let calls = 0;
  const loop = closedLoop(1, { count: 10 }, async () => {
    calls += 1;
    throw new Error('refused');
  });
  await expect(loop).rejects.toThrow('refused');
  expect(calls).toBe(1);
});

it('takes percentiles by nearest rank', () => {
  const values = Array.from({ length: 100 }, (_, index) => index + 1);
  expect([percentile(values, 0.5), percentile(values, 0.99), percentile([7], 0.99)]).toEqual([50, 99, 7]);
});
