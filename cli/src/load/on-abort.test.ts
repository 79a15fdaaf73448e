import { expect, it, vi } from 'vitest';
import { onAbort } from './on-abort.ts';

it('calls when the signal is aborted, also when it was before anybody listened', () => {
  const interrupted = new AbortController();
  const [before, after, disposed] = [vi.fn(), vi.fn(), vi.fn()];
  onAbort(interrupted.signal, before);
  onAbort(interrupted.signal, disposed)[Symbol.dispose]();
  expect(before).not.toHaveBeenCalled();
  interrupted.abort();
  onAbort(interrupted.signal, after);
  expect(before).toHaveBeenCalledTimes(1);
  expect(after).toHaveBeenCalledTimes(1);
  expect(disposed).not.toHaveBeenCalled();
});
