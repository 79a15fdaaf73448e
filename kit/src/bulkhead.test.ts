import { BulkheadRejectedError } from 'cockatiel';
import { expect, it } from 'vitest';
import { createBulkhead } from './bulkhead.ts';

it('hands a place to the queued call, not to a new one', async () => {
  const bulkhead = createBulkhead(1, 1);
  const place = Promise.withResolvers<void>();
  const first = bulkhead(() => place.promise);
  const second = bulkhead(async () => 'second');
  const newcomers: Promise<unknown>[] = [];
  // One comes in every turn in which the place goes from hand to hand.
  place.promise.then(async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      newcomers.push(bulkhead(async () => 'newcomer').catch((error: unknown) => error));
      await undefined;
    }
  });
  place.resolve();
  await first;
  expect(await second).toBe('second');
  const results = await Promise.all(newcomers);
  expect(results.at(-1)).toBe('newcomer');
});

it('runs no more at a time than it may, also when calls come while places are handed on', async () => {
  const bulkhead = createBulkhead(2, 20);
  let [running, most, ended] = [0, 0, 0];
  const work = async () => {
    running += 1;
    most = Math.max(most, running);
    for (let turn = 0; turn < 3; turn += 1) await undefined;
    running -= 1;
    ended += 1;
    // As long as calls come.
    if (ended <= 20) calls.push(bulkhead(work));
  };
  const calls = Array.from({ length: 6 }, () => bulkhead(work));
  for (const call of calls) await call;
  expect({ most, ended }).toEqual({ most: 2, ended: 26 });
});

it('frees the place of what fails', async () => {
  const bulkhead = createBulkhead(1, 0);
  await expect(bulkhead(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await bulkhead(async () => 'next')).toBe('next');
});

it('rejects calls above both limits', async () => {
  const bulkhead = createBulkhead(1, 1);
  const place = Promise.withResolvers<void>();
  const admitted = [bulkhead(() => place.promise), bulkhead(() => place.promise)];
  await expect(bulkhead(() => place.promise)).rejects.toBeInstanceOf(BulkheadRejectedError);
  place.resolve();
  await Promise.all(admitted);
});
