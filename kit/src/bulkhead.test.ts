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
