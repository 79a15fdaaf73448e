import { expect, it } from 'vitest';
import { takeMark } from './marks.ts';
import type { RunContext } from './run-context.ts';
import { createFakeClock } from './testing/fake-clock.ts';
import { aPoint, createFakeContext } from './testing/fake-context.ts';

/** A mark in an experiment whose only probe looks at the outbox; orders counts its rows again half a second later. */
async function mark(since?: string) {
  const clock = createFakeClock();
  const points = () => [aPoint('shop.outbox.pending', clock.now() < 500 ? 0 : 2)];
  const { context } = createFakeContext({ points }, clock);
  const provider = { type: 'metric', name: 'shop.outbox.pending', since };
  const { counters } = await takeMark({
    ...context,
    platform: { ...context.platform, project: { stateDir: import.meta.dirname, logDir: import.meta.dirname } },
    experiment: {
      'steady-state-hypothesis': { probes: [{ type: 'probe', provider }] },
      method: [],
      recovery: [],
    },
  } as unknown as RunContext);
  return { values: [...(counters?.values() ?? [])], tookMs: clock.now() };
}

it('a gauge that a probe compares with the mark is one counted after it was set', async () => {
  expect((await mark('start')).values).toEqual([2]);
});

it('a gauge that nobody compares with the mark does not delay it', async () => {
  expect(await mark()).toEqual({ values: [], tookMs: 0 });
});
