import { describe, expect, it } from 'vitest';
import { mapAtOnce } from './at-once.ts';

describe('work on items', () => {
  it('gives its results in the order of the items', async () => {
    const later = (ms: number) => new Promise<number>((resolve) => setImmediate(() => resolve(ms)));
    expect(await mapAtOnce([3, 1, 2], 2, (item) => (item === 3 ? later(item) : Promise.resolve(item)))).toEqual([
      3, 1, 2,
    ]);
    expect(await mapAtOnce([], 2, later)).toEqual([]);
  });

  it('has no more than so many under way', async () => {
    let underway = 0;
    let most = 0;
    await mapAtOnce(Array.from({ length: 10 }), 3, async () => {
      underway += 1;
      most = Math.max(most, underway);
      await new Promise(setImmediate);
      underway -= 1;
    });
    expect(most).toBe(3);
  });

  it('starts nothing after a failure, with which it rejects', async () => {
    const started: number[] = [];
    const fails = mapAtOnce([1, 2, 3, 4, 5], 2, async (item) => {
      started.push(item);
      await new Promise(setImmediate);
      if (item === 1) throw new Error('gone');
    });
    await expect(fails).rejects.toThrow('gone');
    await new Promise(setImmediate);
    expect(started).toEqual([1, 2]);
  });
});
