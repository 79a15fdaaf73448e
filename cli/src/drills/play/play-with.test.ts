import { expect, it, vi } from 'vitest';
import type { ShownRound } from '../requests.ts';
import { runProgram } from './play-with.ts';

function aRound() {
  let ended: ShownRound['ended'];
  const ask = vi.fn(async () => ({}) as never);
  return {
    client: { status: async () => ({ ended }) as ShownRound, ask },
    end() {
      ended = { why: 'fixed', reason: 'it is fixed' };
    },
    ask,
  };
}

/** A program that ends when its signal aborts, as one that waits until the limit. */
const untilAborted = (until: AbortSignal) =>
  new Promise<void>((resolve) => until.addEventListener('abort', () => resolve()));

const common = { trainee: 'noop', say: () => undefined };
const gaveUp = ['end', { why: 'gave-up', by: 'noop' }];

it('has a program that ends before the round give up, and one that fails', async () => {
  const { signal } = new AbortController();
  for (const run of [async () => undefined, () => Promise.reject(new Error('no more'))]) {
    const { client, ask } = aRound();
    await runProgram({ ...common, client, signal, run });
    expect(ask.mock.calls).toEqual([gaveUp]);
  }
});

it('ends a program when the round is over, and does not end the round again', async () => {
  const { client, ask, end } = aRound();
  const played = runProgram({ ...common, client, signal: new AbortController().signal, run: untilAborted });
  end();
  await played;
  expect(ask).not.toHaveBeenCalled();
});

it('rejects when it is interrupted: a program that ends for it has not given up', async () => {
  const { client, ask } = aRound();
  const interruption = new AbortController();
  const played = runProgram({ ...common, client, signal: interruption.signal, run: untilAborted });
  interruption.abort(new Error('interrupted'));
  await expect(played).rejects.toThrow('interrupted');
  expect(ask).not.toHaveBeenCalled();
});

it('has the points of a round that was over before the interruption', async () => {
  const { client, end } = aRound();
  const interruption = new AbortController();
  const played = runProgram({ ...common, client, signal: interruption.signal, run: untilAborted });
  end();
  interruption.abort(new Error('interrupted'));
  await expect(played).resolves.toBeUndefined();
});
