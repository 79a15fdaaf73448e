import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLogger } from './logger.ts';
import { startRetention } from './retention.ts';

const logger = createLogger({ service: 'test', instance: 'test-1', level: 'silent' });
const MINUTE_MS = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Purges that delete so many rows in turn, and then none. */
function aTable(...counts: readonly (number | Error)[]) {
  const purge = vi.fn(async (_options: { days: number; limit: number }) => {
    const count = counts[purge.mock.calls.length - 1] ?? 0;
    if (count instanceof Error) throw count;
    return count;
  });
  return { purge, retention: startRetention({ table: 'inbox', keepDays: 400, purge, logger }) };
}

it('deletes old rows within a minute of the start, batch after batch until one is short', async () => {
  const { purge, retention } = aTable(1_000, 1_000, 7);
  await vi.advanceTimersByTimeAsync(MINUTE_MS + 1_000);
  expect(purge.mock.calls).toEqual(Array(3).fill([{ days: 400, limit: 1_000 }]));
  await retention[Symbol.asyncDispose]();
});

it('comes again every hour, also after a failure', async () => {
  const { purge, retention } = aTable(new Error('unavailable'), 1);
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  expect(purge).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(60 * MINUTE_MS);
  expect(purge).toHaveBeenCalledTimes(2);
  await retention[Symbol.asyncDispose]();
});

it('ends with its service, also in the middle of many batches', async () => {
  const { purge, retention } = aTable(...Array<number>(100).fill(1_000));
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  await retention[Symbol.asyncDispose]();
  const calls = purge.mock.calls.length;
  await vi.advanceTimersByTimeAsync(120 * MINUTE_MS);
  expect(purge).toHaveBeenCalledTimes(calls);
  expect(calls).toBeLessThan(100_000);
});
