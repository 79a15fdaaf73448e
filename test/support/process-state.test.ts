import { publishLogSink } from '@shop/kit/telemetry/log-sink.ts';
import { afterEach, expect, it, vi } from 'vitest';
import { changesOf, processState } from './process-state.ts';

const before = processState();
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
  process.exitCode = undefined;
});

it('has no changes without a change', () => {
  expect(changesOf(before, processState())).toEqual([]);
});

it('has a changed, an added and a removed variable', () => {
  vi.stubEnv('HOME', undefined);
  vi.stubEnv('LANG', 'nowhere');
  vi.stubEnv('SHOPCTL_ADDED', '1');
  expect(changesOf(before, processState())).toEqual([
    expect.stringMatching(/^variable HOME: ".*" became nothing$/),
    expect.stringMatching(/^variable LANG: .* became "nowhere"$/),
    'variable SHOPCTL_ADDED: nothing became "1"',
  ]);
});

it('has timers that are still fake, an exit code and a listener', () => {
  vi.useFakeTimers();
  process.exitCode = 3;
  const listener = () => {};
  process.on('unhandledRejection', listener);
  const changes = changesOf(before, processState());
  process.off('unhandledRejection', listener);
  expect(changes).toEqual([
    'exit code: "undefined" became "3"',
    'fake timers: "false" became "true"',
    expect.stringContaining('listeners of unhandledRejection: '),
  ]);
});

it('has what the kit keeps for its process', () => {
  publishLogSink(() => undefined);
  const changes = changesOf(before, processState());
  publishLogSink(undefined);
  expect(changes).toEqual(['shop.log-sink: nothing became "() => undefined"']);
  expect(changesOf(before, processState())).toEqual([]);
});
