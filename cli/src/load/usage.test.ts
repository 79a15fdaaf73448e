import { describe, expect, it } from 'vitest';
import type { ProcStat } from '../process/proc.ts';
import { readProcessTable, treeCpuMs } from '../process/process-table.ts';
import { UsageMeter } from './usage.ts';

/** Ticks are 10 ms. */
function aProcess(cpuTicks: number, changes: Partial<ProcStat> = {}): ProcStat {
  return { startTime: 's', parent: 1, cpuTicks, endedChildrenTicks: 0, ...changes };
}

const identity = { pid: 10, startTime: 's' };
const idle = { busyMs: 0, allMs: 0 };

describe('the CPU of a tree', () => {
  it('has what is below it, and what was there and has ended', () => {
    const table = new Map([
      [10, aProcess(5, { endedChildrenTicks: 7 })],
      [11, aProcess(3, { parent: 10 })],
      [12, aProcess(2, { parent: 11 })],
      [13, aProcess(100)],
    ]);
    expect(treeCpuMs(table, identity)).toBe(170);
  });

  it('is not that of another process with the same pid', () => {
    expect(treeCpuMs(new Map([[10, aProcess(5, { startTime: 'later' })]]), identity)).toBeUndefined();
  });

  it.runIf(process.platform === 'linux')('is read from /proc', async () => {
    const table = await readProcessTable();
    const own = table.get(process.pid);
    expect(own?.cpuTicks).toBeGreaterThan(0);
    expect(table.get(own?.parent ?? 0)).toBeDefined();
  });
});

describe('the meter', () => {
  const orders = { name: 'orders-1', process: identity };

  it('reports the average, the busiest second and the machine', () => {
    const meter = new UsageMeter();
    meter.add(0, new Map([[10, aProcess(1_000)]]), [{ ...orders, rssBytes: 100 }], idle);
    meter.add(1_000, new Map([[10, aProcess(1_090)]]), [{ ...orders, rssBytes: 120 }], { busyMs: 1_500, allMs: 2_000 });
    meter.add(2_000, new Map([[10, aProcess(1_100)]]), [{ ...orders, rssBytes: 110 }], { busyMs: 2_000, allMs: 4_000 });
    expect(meter.report()).toMatchObject({
      processes: [
        {
          name: 'orders-1',
          cpuMs: 1_000,
          averagePercent: 50,
          peakPercent: 90,
          memory: expect.objectContaining({
            firstBytes: 100,
            lastBytes: 110,
            slopeBytesPerMinute: null,
            slopeMinutes: 0.02,
          }),
        },
      ],
      // 2 s of the machine, 1 s of them ours, in 2 s.
      machine: { averagePercent: 50, peakPercent: 75, othersPercent: 50 },
    });
    expect(meter.latestMachinePercent()).toBe(25);
  });

  it('reports each second separately', () => {
    const meter = new UsageMeter();
    meter.add(0, new Map([[10, aProcess(1_000)]]), [orders], idle);
    meter.add(1_000, new Map([[10, aProcess(1_090)]]), [orders], { busyMs: 1_500, allMs: 2_000 });
    meter.add(2_000, new Map([[10, aProcess(1_100)]]), [orders], { busyMs: 2_000, allMs: 4_000 });
    expect(meter.series()).toEqual([
      { fromMs: 0, toMs: 1_000, machinePercent: 75, percent: new Map([['orders-1', 90]]) },
      { fromMs: 1_000, toMs: 2_000, machinePercent: 25, percent: new Map([['orders-1', 10]]) },
    ]);
  });

  it('reports how memory grew in the second half, when it was long enough', () => {
    const meter = new UsageMeter();
    // Warm-up takes 1,000 bytes a minute, then it is 10.
    for (let minute = 0; minute <= 10; minute++) {
      const rssBytes = minute <= 5 ? 1_000 * minute : 5_000 + 10 * (minute - 5);
      meter.add(minute * 60_000, new Map([[10, aProcess(1_000)]]), [{ ...orders, rssBytes }], idle);
    }
    const slopeOver = (minutes: number) => meter.report(0, minutes * 60_000)?.processes[0]?.memory?.slopeBytesPerMinute;
    expect([slopeOver(10), slopeOver(5), slopeOver(1)]).toEqual([10, 1_000, null]);
  });

  it('does not count the memory of a restarted process as growth', () => {
    const meter = new UsageMeter();
    const sizes = [500, 510, 520, 100, 101, 102, 103];
    for (const [minute, rssBytes] of sizes.entries()) {
      const startTime = minute < 3 ? 's' : 'later';
      const table = new Map([[10, aProcess(1_000, { startTime })]]);
      meter.add(minute * 60_000, table, [{ name: 'orders-1', process: { pid: 10, startTime }, rssBytes }], idle);
    }
    expect(meter.report()?.processes[0]?.memory).toEqual({
      firstBytes: 100,
      lastBytes: 103,
      slopeBytesPerMinute: 1,
      slopeMinutes: 1,
      restarts: 1,
      unseenMinutes: 0,
    });
  });

  it('names a process that is not there any more, with the time since then, and one that never could be looked at', () => {
    const meter = new UsageMeter();
    for (let minute = 0; minute <= 4; minute++) {
      const watched = minute < 3 ? { ...orders, rssBytes: 100 } : { name: 'orders-1', process: undefined };
      const hidden = { name: 'stock-1', process: undefined };
      meter.add(minute * 60_000, new Map([[10, aProcess(1_000)]]), [watched, hidden], idle);
    }
    const memories = meter.report()?.processes.map(({ name, memory }) => [name, memory?.unseenMinutes]);
    expect(memories).toEqual([
      ['orders-1', 2],
      ['stock-1', undefined],
    ]);
  });

  it('goes on counting when a process is restarted', () => {
    const meter = new UsageMeter();
    meter.add(0, new Map([[10, aProcess(1_000)]]), [orders], idle);
    meter.add(1_000, new Map([[10, aProcess(1_050)]]), [orders], idle);
    const restarted = { name: 'orders-1', process: { pid: 20, startTime: 'later' } };
    meter.add(2_000, new Map([[20, aProcess(10, { startTime: 'later' })]]), [restarted], idle);
    expect(meter.report()?.processes[0]?.cpuMs).toBe(600);
  });

  it('reports a part of the time, and nothing of a single look', () => {
    const meter = new UsageMeter();
    for (const [second, ticks] of [0, 10, 110].entries())
      meter.add(second * 1_000, new Map([[10, aProcess(ticks)]]), [orders], idle);
    expect(meter.report(1_000, 2_000)?.processes[0]?.averagePercent).toBe(100);
    expect(meter.report(2_000)).toBeUndefined();
  });
});
