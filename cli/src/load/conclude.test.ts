import { describe, expect, it } from 'vitest';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import { type ScenarioName, scenarios } from '../../../scenarios/lib/scenarios.ts';
import { conclude } from './conclude.ts';
import type { Finished } from './finished.ts';
import type { Plan } from './plan.ts';
import { aFinishedRun } from './testing/finished.ts';
import { records } from './testing/records.ts';
import { UsageMeter } from './usage.ts';

function aPlan(name: ScenarioName, settings: Partial<Plan['settings']> = {}): Plan {
  const scenario = scenarios[name];
  const chosen = { ...scenario.defaults, hasFault: false, ...settings };
  return {
    scenario,
    settings: chosen,
    phases: scenario.phases(chosen),
    faults: [],
    seed: 1,
    runId: 'load-1',
    tracesWanted: 0,
    htmlFile: undefined,
  };
}

/** A run that went on for so many seconds, and took 10 ms of `orders-1` a second, 500 in the busy one. */
function aRun(
  sent: readonly OrderRecord[],
  { seconds, busySecond }: { seconds: number; busySecond?: number },
): Finished {
  const usage = new UsageMeter();
  let cpuTicks = 0;
  for (let second = 0; second <= seconds; second++) {
    cpuTicks += second - 1 === busySecond ? 50 : 1;
    const table = new Map([[1, { startTime: 's', parent: 0, cpuTicks, endedChildrenTicks: 0 }]]);
    const watched = [{ name: 'orders-1', process: { pid: 1, startTime: 's' } }];
    usage.add(second * 1_000, table, watched, { busyMs: 0, allMs: 0 });
  }
  const run = aFinishedRun(sent, { endedAt: seconds * 1_000 });
  return { ...run, observer: { ...run.observer, usage } };
}

describe('the rate of a whole run', () => {
  const plan = aPlan('smoke', { durationS: 5 });

  it('goes by the time in which orders were sent, not from the first to the last', () => {
    expect(conclude(plan, aRun(records(10, 5), { seconds: 6 })).orders.perSecond).toBe(2);
  });

  it('of a run that ended early goes by the time that it had', () => {
    expect(conclude(plan, aRun(records(4, 2), { seconds: 2 })).orders.perSecond).toBe(2);
  });

  it('is one also of a single response', () => {
    expect(conclude(plan, aRun(records(1, 1), { seconds: 5 })).orders.perSecond).toBe(0.2);
  });
});

describe('CPU', () => {
  it('is reported for each request, of which an order may have several', () => {
    const sent = [1, 2, 3, 4].flatMap(() => records(25, 5));
    const { usage } = conclude(aPlan('retry-storm', { durationS: 5 }), aRun(sent, { seconds: 5 }));
    expect(usage?.processes).toMatchObject([{ name: 'orders-1', cpuMs: 50, cpuMsPerRequest: 0.5 }]);
  });
});

describe('the knee', () => {
  it('names who was busy at the step that did not hold, also when others have its rate', () => {
    const plan = aPlan('ramp', { rate: 2, durationS: 20 });
    const sent = plan.phases.slice(0, 4).flatMap(({ name, startS, durationS, rate = 0 }, step) =>
      records((step === 3 ? 0.5 : 1) * rate * durationS, durationS, { phase: name }).map((record) => ({
        ...record,
        at: record.at + startS * 1000,
      })),
    );
    expect(plan.phases.slice(0, 4).map(({ rate }) => rate)).toEqual([1, 1, 1, 1]);
    const { knee } = conclude(plan, aRun(sent, { seconds: 20, busySecond: 6 }));
    expect(knee).toMatchObject({ sustainedPerSecond: 1, saturatedAtPerSecond: 1 });
    expect(knee?.busiest).toContain('orders-1 25.5 %');
  });
});
