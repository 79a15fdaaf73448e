import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ShownRound } from '../requests.ts';
import { timerClock } from '../testing/fake-shop.ts';
import { untilBegun } from './until-begun.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

type Status = Pick<ShownRound, 'phase' | 'ended'>;

it.each<[string, Status, boolean]>([
  ['a round that begins', { phase: 'on-call' }, true],
  ['none that is void before', { phase: 'starting', ended: { why: 'void', reason: 'not steady' } }, false],
])('has a program play %s, once that is known', async (_what, later, isPlayed) => {
  let status: Status = { phase: 'starting' };
  let result: boolean | undefined;
  const begun = untilBegun(async () => status, { clock: timerClock, signal: new AbortController().signal });
  begun.then((value) => (result = value));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(result).toBeUndefined();
  status = later;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(result).toBe(isPlayed);
});
