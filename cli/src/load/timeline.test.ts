import { describe, expect, it } from 'vitest';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import type { Finished } from './finished.ts';
import { aFinishedRun } from './testing/finished.ts';
import { aRecord, records, timedOut } from './testing/records.ts';
import { loadTimeline } from './timeline.ts';
import { UsageMeter } from './usage.ts';

/** Records begin at 1,000 ms since 1970, which is 50,000 ms on the monotonic clock here. */
const BEGAN_AT = 50_000;
const phases = [
  { name: 'before', startS: 0, durationS: 5, rate: 10, vus: 5, demands: 'expected' },
  { name: 'after', startS: 5, durationS: 5, rate: 10, vus: 5, demands: 'expected' },
] as const;

const aRun = (sent: readonly OrderRecord[], changes: Partial<Finished> = {}) =>
  aFinishedRun(sent, { startedAt: BEGAN_AT, endedAt: BEGAN_AT + 10_000, ...changes });

const timelineOf = (sent: readonly OrderRecord[], changes?: Partial<Finished>) =>
  loadTimeline({ phases }, aRun(sent, changes));

/** An `orders-1` that takes so much of a core in each second, beginning with the first order. */
function usageOf(percents: readonly number[]): UsageMeter {
  const meter = new UsageMeter();
  let cpuTicks = 0;
  const add = (second: number) =>
    meter.add(
      BEGAN_AT + second * 1_000,
      new Map([[1, { startTime: 's', parent: 0, cpuTicks, endedChildrenTicks: 0 }]]),
      [{ name: 'orders-1', process: { pid: 1, startTime: 's' } }],
      { busyMs: second * 500, allMs: second * 1_000 },
    );
  add(0);
  for (const [second, percent] of percents.entries()) {
    cpuTicks += percent;
    add(second + 1);
  }
  return meter;
}

describe('a load over time', () => {
  it('has responses by kind, the time they took, and its phases', () => {
    const {
      seconds,
      outcomes,
      phases: shown,
    } = timelineOf([
      ...records(10, 5),
      aRecord({ at: 3_000, tookMs: 2_500, http: 503, status: undefined, code: 'overloaded', expected: false }),
      aRecord({ at: 4_000, status: 'Cancelled', reason: 'out of stock' }),
    ]);
    expect(outcomes.map(({ label, tone }) => [label, tone])).toEqual([
      ['201 Confirmed', 'good'],
      ['201 Cancelled: out of stock', 'warn'],
      ['503 overloaded', 'bad'],
    ]);
    expect(seconds.responses.map((column) => column.slice(0, 6))).toEqual([
      [2, 2, 2, 2, 2, 0],
      [0, 0, 0, 1, 0, 0],
      [0, 0, 0, 0, 1, 0],
    ]);
    expect(seconds.p95.slice(0, 6)).toEqual([50, 50, 2_500, 50, 50, null]);
    expect(shown.map(({ label, fromMs, toMs }) => [label, fromMs, toMs])).toEqual([
      ['before', 0, 5_000],
      ['after', 5_000, 10_000],
    ]);
  });

  it('goes on until everything is published', () => {
    const backlogs = [0, 5_000, 14_000].map((ms) => ({ atMs: BEGAN_AT + ms, pending: ms, open: 1 }));
    const { durationMs, seconds } = timelineOf(records(10, 5), { backlogs });
    expect(durationMs).toBe(14_000);
    expect([seconds.pending[5], seconds.pending[14], seconds.waiting[14]]).toEqual([5_000, 14_000, 1]);
    expect(seconds.pending[10]).toBeNull();
  });

  it('leaves out what was measured before its first order', () => {
    const backlogs = [{ atMs: BEGAN_AT - 3_000, pending: 7, open: 1 }];
    expect(timelineOf(records(10, 5), { backlogs }).seconds.pending).not.toContain(7);
  });

  it('has a band for each fault that was in effect', () => {
    const fault = { target: 'orders-broker', fault: 'down', parameters: {}, inEffect: true, evidence: '' };
    const [from, to] = [new Date(3_000).toISOString(), new Date(6_000).toISOString()];
    const window = {
      faults: [
        { ...fault, from, to },
        { ...fault, from: null, to: null },
      ],
      checks: [],
      notReverted: [],
    };
    const { faults, happenings } = timelineOf(records(10, 5), { window });
    expect(faults).toEqual([{ fromMs: 2_000, toMs: 5_000, label: 'down orders-broker', tone: 'fault' }]);
    expect(happenings.map(({ label }) => label)).toEqual(['phase', 'fault']);
  });

  it('has the machine and its busiest processes by the second', () => {
    const observer = { ...aRun([]).observer, usage: usageOf([90, 10, 30]) };
    const { usage } = timelineOf(records(10, 5), { observer });
    expect(usage.map(({ label, percent }) => [label, percent.slice(0, 4)])).toEqual([
      ['all cores', [50, 50, 50, null]],
      ['orders-1', [90, 10, 30, null]],
    ]);
  });

  it('has no row for a process that did nothing', () => {
    const observer = { ...aRun([]).observer, usage: usageOf([1, 2, 3]) };
    expect(timelineOf(records(10, 5), { observer }).usage.map(({ label }) => label)).toEqual(['all cores']);
  });

  it('keeps every rare response where it thins the marks, and counts all', () => {
    const rare = aRecord({ at: 2_000, ...timedOut });
    const { orders, outcomes, seconds } = timelineOf([...records(9_000, 5), rare]);
    const marksOf = (label: string) => orders.outcome.filter((kind) => outcomes[kind]?.label === label).length;
    expect(marksOf('timeout')).toBe(1);
    expect(marksOf('201 Confirmed')).toBe(3_000);
    expect(seconds.responses.flat().reduce((sum, count) => sum + count)).toBe(9_001);
  });

  it('without an order has its phases and what was measured', () => {
    const { durationMs, orders, phases: shown } = timelineOf([], { startedAt: undefined });
    expect(orders.placedMs).toEqual([]);
    expect([durationMs, shown]).toEqual([0, []]);
  });
});
