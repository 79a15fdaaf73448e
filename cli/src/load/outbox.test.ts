import { describe, expect, it } from 'vitest';
import { type Backlog, untilDrained } from './outbox.ts';

/** Looks that follow each other; the last one stays. */
function looks(...backlogs: readonly Backlog[]): () => Promise<Backlog> {
  let next = 0;
  return async () => backlogs[Math.min(next++, backlogs.length - 1)] as Backlog;
}

const { signal } = new AbortController();

describe('the drain', () => {
  it('takes from the end of the load until neither an event nor a saga waits', async () => {
    const seen = looks(
      { atMs: 1_100, pending: 5, open: 1 },
      { atMs: 1_300, pending: 0, open: 1 },
      { atMs: 1_500, pending: 0, open: 0 },
    );
    expect(await untilDrained(seen, { sinceMs: 1_000, limitMs: 10_000, signal })).toMatchObject({ tookMs: 500 });
  });

  it('has a limit, and reports what still waited', async () => {
    const seen = looks({ atMs: 1_100, pending: 5, open: 0 }, { atMs: 3_000, pending: 4, open: 0 });
    expect(await untilDrained(seen, { sinceMs: 1_000, limitMs: 1_000, signal })).toEqual({
      tookMs: undefined,
      last: { atMs: 3_000, pending: 4, open: 0 },
    });
  });

  it('that cannot be seen is an error, and an interruption ends it', async () => {
    const refused = async () => Promise.reject(new Error('refused'));
    await expect(untilDrained(refused, { sinceMs: 0, limitMs: 1, signal })).rejects.toThrow('refused');
    const seen = looks({ atMs: 0, pending: 1, open: 0 });
    await expect(untilDrained(seen, { sinceMs: 0, limitMs: 1_000, signal: AbortSignal.abort() })).rejects.toMatchObject(
      { name: 'AbortError' },
    );
  });
});
