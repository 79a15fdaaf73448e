import { expect, it } from 'vitest';
import { createFakeClock } from '../../shared/testing/fake-clock.ts';
import { captureBaseline } from './baselines.ts';
import type { RunContext } from './run-context.ts';
import { aPoint, createFakeContext } from './testing/fake-context.ts';

/** A baseline in an experiment whose only probe looks at the outbox; orders counts its rows again half a second later. */
async function baseline(since?: string) {
  const clock = createFakeClock();
  const points = () => [aPoint('shop.outbox.pending', clock.now() < 500 ? 0 : 2)];
  const { context } = createFakeContext({ points }, clock);
  const provider = { type: 'metric', name: 'shop.outbox.pending', since };
  const { counters } = await captureBaseline({
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

it('a gauge that a probe compares with the baseline was counted after the baseline', async () => {
  expect((await baseline('start')).values).toEqual([2]);
});

it('a gauge without a comparison does not delay the baseline', async () => {
  expect(await baseline()).toEqual({ values: [], tookMs: 0 });
});
