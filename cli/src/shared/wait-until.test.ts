import { describe, expect, it } from 'vitest';
import { poll, pollFor, waitUntil } from './wait-until.ts';

/*
 * Goal: every wait ends with what was seen, at its limit, or with its signal.
 * Method: looks that give what a list says, one after the other, and its last item from then on.
 */

function looks<T>(...results: readonly T[]) {
  let taken = 0;
  return { look: () => results[Math.min(taken++, results.length - 1)], taken: () => taken };
}

describe('poll', () => {
  it('resolves with the first thing that is seen, false and null included', async () => {
    expect(await poll(looks(undefined, undefined, 'there').look, { everyMs: 1 })).toBe('there');
    expect(await poll(looks(undefined, false).look, { everyMs: 1 })).toBe(false);
    expect(await poll(looks(undefined, null).look, { everyMs: 1 })).toBeNull();
  });

  it('rejects with what a look throws', async () => {
    await expect(poll(() => Promise.reject(new Error('refused')), { everyMs: 1 })).rejects.toThrow('refused');
  });

  it('ends with its signal, between two looks', async () => {
    const { look, taken } = looks(undefined);
    const wait = poll(look, { everyMs: 60_000, signal: AbortSignal.abort() });
    await expect(wait).rejects.toMatchObject({ name: 'AbortError' });
    expect(taken()).toBe(1);
  });
});

describe('pollFor', () => {
  it('is undefined when the next look would come after the limit', async () => {
    const { look, taken } = looks(undefined);
    expect(await pollFor(look, { everyMs: 60_000, limitMs: 59_000 })).toBeUndefined();
    expect(taken()).toBe(1);
  });

  it('resolves with what its last look has seen', async () => {
    expect(await pollFor(looks('there').look, { everyMs: 1, limitMs: 0 })).toBe('there');
    expect(await pollFor(looks(undefined, 'there').look, { everyMs: 1, limitMs: 60_000 })).toBe('there');
  });
});

describe('waitUntil', () => {
  it('resolves with what is seen', async () => {
    expect(await waitUntil('it', 60_000, looks(undefined, 'there').look)).toBe('there');
  });

  it('looks once at least, and says what it has waited for', async () => {
    expect(await waitUntil('it', 0, looks('there').look)).toBe('there');
    await expect(waitUntil('the alarm', 0, looks(undefined).look)).rejects.toThrow('waited 0 s for the alarm');
  });
});
