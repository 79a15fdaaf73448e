import { metrics } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFlagOutcomes } from './flag-outcomes.ts';

const FLAG = 'publish-order-confirmed-v2';

class Reader extends MetricReader {
  protected async onShutdown() {}
  protected async onForceFlush() {}
}

let reader: Reader;
beforeEach(() => {
  reader = new Reader();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
});
afterEach(() => metrics.disable());

async function points(name: string) {
  const { resourceMetrics } = await reader.collect();
  const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  return all.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? [];
}

/** What was counted, without the zero of the start. */
async function counted() {
  return (await points('shop.flag.outcomes'))
    .filter(({ value }) => value !== 0)
    .map(({ attributes: { variant, share, outcome }, value }) => ({ variant, share, outcome, value }));
}

const outcomes = (isOn = true, share?: number) => createFlagOutcomes({ isOn: async () => isOn, shareOn: () => share });
const succeeds = async () => true;

describe('work that a flag changes', () => {
  it('is counted by its variant, and by the share that drew it', async () => {
    await outcomes(true, 0.05).during(FLAG, 'order-1', succeeds);
    await outcomes(false, 0.05).during(FLAG, 'order-2', succeeds);
    expect(await counted()).toEqual([
      { variant: 'on', share: 5, outcome: 'ok', value: 1 },
      { variant: 'off', share: 5, outcome: 'ok', value: 1 },
    ]);
    expect(await points('shop.flag.duration')).toHaveLength(2);
  });

  it('has no share and no duration where a flag has one value for all', async () => {
    await outcomes(false).during(FLAG, 'order-1', succeeds);
    expect(await counted()).toEqual([{ variant: 'off', share: undefined, outcome: 'ok', value: 1 }]);
    expect(await points('shop.flag.duration')).toEqual([]);
  });

  it('that fails is bad, and fails for its caller too', async () => {
    const fails = () => Promise.reject(new Error('no such field'));
    await expect(outcomes(true, 0.05).during(FLAG, 'order-1', fails)).rejects.toThrow('no such field');
    expect(await counted()).toEqual([{ variant: 'on', share: 5, outcome: 'failed', value: 1 }]);
  });

  it('counts a key once, and none that another instance has', async () => {
    const own = outcomes(true, 0.05);
    await own.during(FLAG, 'order-1', async () => false);
    await own.during(FLAG, 'order-2', () => Promise.reject(new Error('once'))).catch(() => undefined);
    await own.during(FLAG, 'order-2', succeeds);
    expect(await counted()).toEqual([{ variant: 'on', share: 5, outcome: 'failed', value: 1 }]);
  });

  it('is reported before there is any', async () => {
    outcomes();
    expect(await points('shop.flag.outcomes')).toMatchObject([{ value: 0, attributes: { flag: FLAG } }]);
  });
});
