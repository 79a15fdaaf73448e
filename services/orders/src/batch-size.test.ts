import { expect, it } from 'vitest';
import { createBatchSize } from './batch-size.ts';

it('begins with the most, and halves what failed down to one', () => {
  const size = createBatchSize(500);
  const sizes = [size.current];
  for (let batches = 0; batches < 10; batches++) {
    size.failed(size.current);
    sizes.push(size.current);
  }
  expect(sizes).toEqual([500, 250, 125, 62, 31, 15, 7, 3, 1, 1, 1]);
});

it('a failure of a batch that was begun before another failed does not make it larger again', () => {
  const size = createBatchSize(500);
  size.failed(20);
  size.failed(500);
  expect(size.current).toBe(10);
});

it('grows by a tenth after each full batch, up to the most', () => {
  const size = createBatchSize(500);
  size.failed(1);
  const sizes = [];
  for (let batches = 0; batches < 60; batches++) {
    size.succeeded(size.current);
    sizes.push(size.current);
  }
  expect(sizes.slice(0, 12)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15]);
  expect(sizes.at(-1)).toBe(500);
});

it('does not grow after a batch that had fewer items than it could have', () => {
  const size = createBatchSize(500);
  size.failed(100);
  size.succeeded(49);
  expect(size.current).toBe(50);
});
