import { describe, expect, it } from 'vitest';
import { judgeMemory } from './memory.ts';
import { UsageMeter } from './usage.ts';

const MB = 1024 ** 2;

/** A process that has so many MB at a minute of the run. */
type Curve = (minute: number) => number;

/** What is measured of processes, a sample each ten seconds. */
function soak(minutes: number, curves: Readonly<Record<string, Curve>>) {
  const meter = new UsageMeter();
  for (let second = 0; second <= minutes * 60; second += 10) {
    const watched = Object.entries(curves).map(([name, megabytes], index) => ({
      name,
      process: { pid: index + 1, startTime: 's' },
      rssBytes: megabytes(second / 60) * MB,
    }));
    const table = new Map(
      watched.map(({ process }) => [process.pid, { startTime: 's', parent: 0, cpuTicks: 1, endedChildrenTicks: 0 }]),
    );
    meter.add(second * 1_000, table, watched, { busyMs: 0, allMs: 0 });
  }
  const report = meter.report();
  if (report === undefined) throw new Error('nothing was measured');
  return { ...report, processes: report.processes.map((usage) => ({ ...usage, cpuMsPerOrder: 0 })) };
}

const judged = (minutes: number, curves: Readonly<Record<string, Curve>>) => judgeMemory(soak(minutes, curves));
const outcomes = (minutes: number, curves: Readonly<Record<string, Curve>>) =>
  judged(minutes, curves).checks.map(({ outcome }) => outcome);

/** As `orders` was measured in the first ten minutes after a start: 111 MB, 169 in the end, then level. */
const levelsOff: Curve = (minute) => 111 + 60 * (1 - Math.exp(-minute / 4));
const leak =
  (perMinute: number): Curve =>
  (minute) =>
    100 + perMinute * minute;

describe('the memory of a soak', () => {
  it('that levels off after a start is ok, also in a long one', () => {
    expect(outcomes(10, { 'orders-1': levelsOff })).toEqual(['ok']);
    expect(outcomes(60, { 'orders-1': levelsOff })).toEqual(['ok']);
  });

  it('that grows and grows fails, and says by how much', () => {
    expect(judged(10, { 'orders-1': leak(10), rabbitmq: () => 235 })).toEqual({
      checks: [
        {
          kind: 'memory',
          name: 'orders-1 has levelled off',
          outcome: 'failed',
          evidence: '10.00 MB a minute over the last 5.0 min, now 200 MB; at most 32 MB in that time',
        },
        expect.objectContaining({ name: 'rabbitmq has levelled off', outcome: 'ok' }),
      ],
      notJudged: [],
    });
  });

  it('shows a slow leak when it is long enough', () => {
    expect(outcomes(10, { 'orders-1': leak(2) })).toEqual(['ok']);
    expect(outcomes(40, { 'orders-1': leak(2) })).toEqual(['failed']);
  });

  it('is not taken for a leak by collections', () => {
    const sawtooth: Curve = (minute) => 120 + 40 * ((minute * 1.7) % 1);
    expect(outcomes(10, { 'orders-1': sawtooth })).toEqual(['ok']);
  });

  it('of a short one is not judged, and that is said', () => {
    expect(judged(9, { 'orders-1': leak(50) })).toEqual({
      checks: [],
      notJudged: ['how memory grew: that takes 10 min, of which the first half is warm-up'],
    });
  });

  it('of stores that fill up is judged once they are full, and once it is more than they may take', () => {
    expect(judged(10, { supervisor: leak(15) })).toEqual({
      checks: [],
      notJudged: ['how the memory of supervisor grew: it fills up to 350 MB and has 250 MB'],
    });
    expect(outcomes(10, { supervisor: () => 290 })).toEqual(['ok']);
    expect(outcomes(20, { supervisor: leak(15) })).toEqual(['failed']);
  });

  it('that was measured nowhere is not judged', () => {
    expect(judgeMemory(null)).toEqual({ checks: [], notJudged: ['how memory grew: it was not measured'] });
  });
});
