import { describe, expect, it } from 'vitest';
import { checkMemory, type Soak } from './memory.ts';
import { UsageMeter } from './usage.ts';

const MB = 1024 ** 2;

/** A process that has so many MB at a minute of the run. */
type Curve = (minute: number) => number | undefined;

/** What is measured of processes, a sample each ten seconds. */
function soak(minutes: number, curves: Readonly<Record<string, Curve>>) {
  const meter = new UsageMeter();
  for (let second = 0; second <= minutes * 60; second += 10) {
    const watched = Object.entries(curves).map(([name, megabytes], index) => ({
      name,
      process: { pid: index + 1, startTime: startTimeOf(name, second / 60) },
      rssBytes: bytesOf(megabytes(second / 60)),
    }));
    const table = new Map(
      watched.map(({ process: { pid, startTime } }) => [
        pid,
        { startTime, parent: 0, cpuTicks: 1, endedChildrenTicks: 0 },
      ]),
    );
    meter.add(second * 1_000, table, watched, { busyMs: 0, allMs: 0 });
  }
  const report = meter.report();
  if (report === undefined) throw new Error('nothing was measured');
  return { ...report, processes: report.processes.map((usage) => ({ ...usage, cpuMsPerRequest: 0 })) };
}

const bytesOf = (megabytes: number | undefined) => (megabytes === undefined ? undefined : megabytes * MB);
/** One of this name is restarted after so many minutes: `orders-1, restarted 7`. */
const startTimeOf = (name: string, minute: number) =>
  minute < Number(name.split('restarted ')[1] ?? 0) ? 'first' : 's';

const checked = (minutes: number, curves: Readonly<Record<string, Curve>>, faults: Soak['faults'] = []) =>
  checkMemory(soak(minutes, curves), { durationS: minutes * 60, faults });
const verdicts = (minutes: number, curves: Readonly<Record<string, Curve>>) =>
  checked(minutes, curves).checks.map(({ verdict }) => verdict);

/** As `orders` was measured in the first ten minutes after a start: 111 MB, 169 in the end, then level. */
const levelsOff: Curve = (minute) => 111 + 60 * (1 - Math.exp(-minute / 4));
const leak =
  (perMinute: number): Curve =>
  (minute) =>
    100 + perMinute * minute;

describe('the memory of a soak', () => {
  it('that levels off after a start is ok, also in a long one', () => {
    expect(verdicts(10, { 'orders-1': levelsOff })).toEqual(['pass']);
    expect(verdicts(60, { 'orders-1': levelsOff })).toEqual(['pass']);
  });

  it('that grows and grows fails, and says by how much', () => {
    expect(checked(10, { 'orders-1': leak(10), rabbitmq: () => 235 })).toEqual({
      checks: [
        {
          group: 'memory',
          name: 'orders-1 has levelled off',
          verdict: 'fail',
          evidence: '10.00 MB a minute over the last 5.0 min, now 200 MB; at most 32 MB in that time',
        },
        expect.objectContaining({ name: 'rabbitmq has levelled off', verdict: 'pass' }),
      ],
      notChecked: [],
    });
  });

  it('shows a slow leak when it is long enough', () => {
    expect(verdicts(10, { 'orders-1': leak(2) })).toEqual(['pass']);
    expect(verdicts(40, { 'orders-1': leak(2) })).toEqual(['fail']);
  });

  it('is not taken for a leak by collections', () => {
    const sawtooth: Curve = (minute) => 120 + 40 * ((minute * 1.7) % 1);
    expect(verdicts(10, { 'orders-1': sawtooth })).toEqual(['pass']);
  });

  it('of a short one is not checked, which is reported', () => {
    expect(checked(9, { 'orders-1': leak(50) })).toEqual({
      checks: [],
      notChecked: ['how memory grew: that takes 10 min, of which the first half is warm-up'],
    });
  });

  it('of stores that fill up is checked once they are full, and once it is more than they may take', () => {
    expect(checked(10, { supervisor: leak(15) })).toEqual({
      checks: [],
      notChecked: ['how the memory of supervisor grew: it fills up to 350 MB and has 250 MB'],
    });
    expect(verdicts(10, { supervisor: () => 290 })).toEqual(['pass']);
    expect(verdicts(20, { supervisor: leak(15) })).toEqual(['fail']);
  });

  it('that was measured nowhere is missing evidence, where it is to be checked', () => {
    expect(checkMemory(null, { durationS: 600, faults: [] })).toMatchObject({
      checks: [{ name: 'the platform has levelled off', verdict: 'unknown' }],
      notChecked: [],
    });
    expect(checkMemory(null, { durationS: 599, faults: [] }).checks).toEqual([]);
  });

  it.each([
    ['was restarted', 'orders-1 restarted 7', () => 100, 'it was restarted in the run, times: 1'],
    ['was restarted long ago', 'orders-1 restarted 1', () => 100, 'it was restarted in the run, times: 1'],
    ['is gone', 'orders-1', (minute: number) => (minute < 15 ? 100 : undefined), 'it was not seen in the last 5.2 min'],
    ['could not be read', 'orders-1', () => undefined, 'its memory could not be read'],
    [
      'came late',
      'orders-1',
      (minute: number) => (minute < 12 ? undefined : 100),
      'its second half was seen for 4.0 min: that takes 10 min, of which the first half is warm-up',
    ],
  ])('of a process that %s is missing evidence, which is said of it by name', (_, name, curve, evidence) => {
    expect(checked(20, { [name]: curve, rabbitmq: () => 235 })).toMatchObject({
      checks: [
        { name: `${name} has levelled off`, verdict: 'unknown', evidence },
        { name: 'rabbitmq has levelled off', verdict: 'pass' },
      ],
      notChecked: [],
    });
  });

  it('of a process that a fault was aimed at is not checked, which is reported; others are not excused by it', () => {
    const faults = [{ target: 'orders', fault: 'kill' }];
    expect(checked(20, { 'orders-1 restarted 7': () => 100, 'stock-1 restarted 7': () => 100 }, faults)).toMatchObject({
      checks: [{ name: 'stock-1 restarted 7 has levelled off', verdict: 'unknown' }],
      notChecked: [
        'how the memory of orders-1 restarted 7 grew: it was restarted in the run, times: 1, and kill was aimed at orders',
      ],
    });
  });

  it('of k6 and of the command itself is not checked', () => {
    expect(checked(10, { k6: () => undefined, shopctl: () => undefined, 'orders-1': levelsOff }).checks).toMatchObject([
      { name: 'orders-1 has levelled off', verdict: 'pass' },
    ]);
  });
});
