import { describe, expect, it } from 'vitest';
import { scenarios } from '../../../scenarios/lib/scenarios.ts';
import { dropTruncatedRecords, endWhenSaturated, untilFirstOrder } from './drive.ts';
import type { RunningK6 } from './k6-process.ts';
import { aRecord, records, timedOut } from './testing/records.ts';

/** k6 that runs until it is stopped. */
function runningK6() {
  const end = Promise.withResolvers<number>();
  const k6: RunningK6 = {
    process: { pid: 1, startTime: 's' },
    ended: end.promise,
    stop: async () => end.resolve(105),
    messages: async () => '',
  };
  return { k6, end: end.resolve };
}

/** Four steps of a second, that began this long ago. */
const steps = scenarios.ramp.phases({ rate: 100, durationS: 10, vus: 10, hasFault: false }).slice(0, 4);
const began = (agoMs: number) => Date.now() - agoMs;

describe('a ramp', () => {
  it('is ended when two steps that are over did not hold', async () => {
    const { k6 } = runningK6();
    const at = began(10_000);
    const sent = steps.flatMap(({ name }, index) => records(index === 0 ? 10 : 5, 1, { phase: name, at }));
    expect(await endWhenSaturated(scenarios.ramp, steps, { observer: { records: sent }, k6 })).toBeGreaterThan(at);
    expect(await k6.ended).toBe(105);
  });

  it('goes on while at most one did not, until k6 ends', async () => {
    const { k6, end } = runningK6();
    const at = began(10_000);
    const sent = steps.flatMap(({ name, rate = 0 }, index) => records(index === 3 ? 5 : rate, 1, { phase: name, at }));
    const over = endWhenSaturated(scenarios.ramp, steps, { observer: { records: sent }, k6 });
    end(0);
    expect(await over).toBeUndefined();
  });
});

describe('the first order', () => {
  it('says when the load began', async () => {
    const { k6 } = runningK6();
    const startedAt = await untilFirstOrder({ records: [aRecord({ at: began(2_000) })] }, k6);
    expect(performance.now() - (startedAt as number)).toBeGreaterThanOrEqual(2_000);
    expect(performance.now() - (startedAt as number)).toBeLessThan(10_000);
  });

  it('never came when k6 ended without any', async () => {
    const { k6, end } = runningK6();
    end(107);
    expect(await untilFirstOrder({ records: [] }, k6)).toBeUndefined();
  });
});

describe('orders that were cut off by the end of k6', () => {
  it('are no errors of the system; those that got no response before are', () => {
    const before = aRecord({ ...timedOut, at: 1_000, tookMs: 500 });
    const cut = aRecord({ ...timedOut, code: 'unreachable', at: 1_900, tookMs: 150 });
    const complete = aRecord({ at: 1_950, tookMs: 60 });
    expect(dropTruncatedRecords([before, cut, complete], 2_000)).toEqual([before, complete]);
    expect(dropTruncatedRecords([before, cut, complete], undefined)).toHaveLength(3);
  });
});
