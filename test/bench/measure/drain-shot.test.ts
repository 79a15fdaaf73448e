import { expect, it } from 'vitest';
import { drainShot } from './drain-shot.ts';

const perSecond = ({ done, elapsedMs }: { done: number; elapsedMs: number }) => (1_000 * done) / elapsedMs;

it('has the rate of the events after the first ones, however long those took to be begun', () => {
  const endedAt = (startMs: number) => Array.from({ length: 100 }, (_, index) => startMs + 2 * index);
  expect(perSecond(drainShot(endedAt(0), 10))).toBeCloseTo(500);
  expect(perSecond(drainShot([1, 1, 1, ...endedAt(60_000)], 13))).toBeCloseTo(500);
});

it('does not take a batch that ends immediately for one that took no time', () => {
  const batches = [100, 200, 300, 400].flatMap((at) => Array<number>(500).fill(at));
  expect(perSecond(drainShot(batches, 500))).toBeCloseTo(5_000);
});

it('counts all events as done, as their CPU is that of all', () => {
  expect(drainShot([1, 2, 3, 4], 2)).toMatchObject({ done: 4, failed: 0 });
});

it('has no rate where nothing is left after the first ones', () => {
  expect(() => drainShot([1, 2], 2)).toThrow(RangeError);
});
