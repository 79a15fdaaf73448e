import { DEAD_LETTERS_QUEUE } from '@shop/kit/topology.ts';
import { describe, expect, it } from 'vitest';
import type { MetricPoint } from '../../otlp/metric-store.ts';
import { theDefaultPlan } from '../analysis/testing/plan.ts';
import type { FlagRollout } from './rollout.ts';
import { openVariantObserver } from './variant-observer.ts';

const flag = 'publish-order-confirmed-v2';

const outcome = (value: number, attributes: Record<string, unknown>): MetricPoint =>
  ({
    name: 'shop.flag.outcomes',
    type: 'counter',
    instance: 'orders-1',
    startTime: 0,
    stale: false,
    value,
    attributes: { flag, outcome: 'ok', ...attributes },
  }) as unknown as MetricPoint;
const deadLetters = (value: number): MetricPoint =>
  ({
    name: 'shop.queue.messages',
    type: 'gauge',
    instance: 'supervisor',
    stale: false,
    value,
    attributes: { queue: DEAD_LETTERS_QUEUE },
  }) as unknown as MetricPoint;

/** What two looks find: the points before, and those of now. */
async function look(before: readonly MetricPoint[], now: readonly MetricPoint[], evaluators = ['orders-1']) {
  const reads = [before, now];
  const observer = await openVariantObserver(
    { plan: theDefaultPlan, flag },
    { metrics: async () => reads.shift() ?? now, evaluators: () => evaluators, now: () => 1_000 },
  );
  return { level: observer.level, ...(await observer.look({ evidence: [] } as unknown as FlagRollout)) };
}

describe('what becomes of variants', () => {
  it('is counted by variant and share since the look before', async () => {
    const drawn = { share: 5 };
    const { evidence, missing } = await look(
      [outcome(10, { ...drawn, variant: 'on' })],
      [
        outcome(13, { ...drawn, variant: 'on' }),
        outcome(2, { ...drawn, variant: 'on', outcome: 'failed' }),
        outcome(95, { ...drawn, variant: 'off' }),
        outcome(500, { variant: 'off' }),
        outcome(7, { ...drawn, variant: 'on', flag: 'another-flag' }),
      ],
    );
    expect(evidence).toEqual([
      { at: 1_000, arm: 'canary', share: 0.05, requests: 5, bad: 2, slow: null },
      { at: 1_000, arm: 'stable', share: 0.05, requests: 95, bad: 0, slow: null },
    ]);
    expect(missing).toEqual([]);
  });

  it('before the rollout is the level that both are compared with', async () => {
    const { level } = await look(
      [outcome(98, { variant: 'off' }), outcome(2, { variant: 'off', outcome: 'failed' })],
      [],
    );
    expect(level).toEqual({ requests: 100, bad: 2 });
  });

  it('is not all there while an instance reports nothing', async () => {
    const { missing } = await look([], [outcome(1, { variant: 'off' })], ['orders-1', 'orders-2']);
    expect(missing).toEqual(['orders-2 reports nothing']);
  });

  it.each([
    ['held', [deadLetters(3)], [deadLetters(3)]],
    ['tripped', [deadLetters(3)], [deadLetters(4)]],
    ['unknown', [], [deadLetters(4)]],
    ['unknown', [deadLetters(3)], []],
  ] as const)('is %s by its dead letters', async (state, before, now) => {
    const { guards } = await look(before, now);
    expect(guards.find(({ guard }) => guard === 'dead-letter')).toMatchObject({ state });
  });
});
