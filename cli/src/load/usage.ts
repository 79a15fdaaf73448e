import { cpus } from 'node:os';
import type { ProcessIdentity } from '../process/process-identity.ts';
import type { ProcessTable } from '../process/process-table.ts';
import { ownCpuMs, treeCpuMs } from '../process/process-table.ts';

/** A process, with what is below it, under the name that people know. */
export interface Watched {
  /** `orders-1`, `postgres`, `k6`. */
  readonly name: string;
  /** Undefined while it has none that can be looked at. */
  readonly process: ProcessIdentity | undefined;
  /** Resident memory now, bytes, with what is below it; pages that those share counted once. */
  readonly rssBytes?: number | undefined;
  /** Without its children, which have other names. */
  readonly isAlone?: boolean;
}

/** CPU and memory of one name over a time. */
export interface Usage {
  readonly name: string;
  readonly cpuMs: number;
  /** Of one core, in percent. */
  readonly averagePercent: number;
  /** The busiest second. */
  readonly peakPercent: number;
  readonly memory: Memory | null;
}

/** Resident memory over a time; of a process that was restarted, since its last start. */
export interface Memory {
  readonly firstBytes: number;
  readonly lastBytes: number;
  /** Least squares over the second half: the first is that of warm-up. Null when that is less than a minute. */
  readonly slopeBytesPerMinute: number | null;
  /** How long that half is. */
  readonly slopeMinutes: number;
  /** How often the process was restarted in that time. */
  readonly restarts: number;
  /** From the last look that found it to the last look at all. */
  readonly unseenMinutes: number;
}

/** Everything of this machine over the same time. */
export interface MachineUsage {
  readonly cores: number;
  /** Of all cores together, in percent. */
  readonly averagePercent: number;
  readonly peakPercent: number;
  /** What is not the platform's, k6's or the command's, of one core: above a few percent the run was disturbed. */
  readonly othersPercent: number;
}

export interface UsageReport {
  readonly processes: readonly Usage[];
  readonly machine: MachineUsage;
}

/** CPU between two looks. */
export interface UsageStep {
  readonly fromMs: number;
  readonly toMs: number;
  readonly machinePercent: number;
  readonly percent: ReadonlyMap<string, number>;
}

interface Sample {
  readonly atMs: number;
  /** By name; only ever grows, also when a process is restarted. */
  readonly cpuMs: ReadonlyMap<string, number>;
  /** By name. */
  readonly resident: ReadonlyMap<string, { readonly bytes: number; readonly startTime: string }>;
  readonly machine: { readonly busyMs: number; readonly allMs: number };
}

/** Keeps what was used, second by second. */
export class UsageMeter {
  readonly #samples: Sample[] = [];
  /** Of all that should have been seen. */
  readonly #names = new Set<string>();
  /** Of a name: what its earlier processes used, and what the present one had used at the last look. */
  readonly #processes = new Map<string, { startTime: string; earlierMs: number; ownMs: number }>();

  /** One look. A process that is seen for the first time after the first look began in between. */
  add(atMs: number, table: ProcessTable, watched: readonly Watched[], machine = machineTimes()): void {
    const isFirst = this.#samples.length === 0;
    for (const { name, process, isAlone = false } of watched) {
      this.#names.add(name);
      if (process === undefined) continue;
      const cpuMs = isAlone ? ownCpuMs(table, process) : treeCpuMs(table, process);
      if (cpuMs === undefined) continue;
      const known = this.#processes.get(name);
      if (known?.startTime === process.startTime) known.ownMs = Math.max(known.ownMs, cpuMs);
      else if (known !== undefined)
        this.#processes.set(name, {
          startTime: process.startTime,
          earlierMs: known.earlierMs + known.ownMs,
          ownMs: cpuMs,
        });
      else this.#processes.set(name, { startTime: process.startTime, earlierMs: isFirst ? -cpuMs : 0, ownMs: cpuMs });
    }
    this.#samples.push({
      atMs,
      cpuMs: new Map([...this.#processes].map(([name, { earlierMs, ownMs }]) => [name, earlierMs + ownMs])),
      resident: new Map(
        watched.flatMap(({ name, rssBytes: bytes, process }) =>
          bytes === undefined || process === undefined ? [] : [[name, { bytes, startTime: process.startTime }]],
        ),
      ),
      machine,
    });
  }

  /** Over the samples from `fromMs` to `toMs`; undefined when there are fewer than two. */
  report(fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY): UsageReport | undefined {
    const samples = this.#samples.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
    if (samples.length < 2) return undefined;
    const processes = [...this.#names].map((name) => usageOf(name, samples));
    return { processes, machine: machineUsage(samples, processes) };
  }

  /** Between each two looks that follow each other: by name percent of one core, and of all cores the machine's. */
  series(): readonly UsageStep[] {
    return pairs(this.#samples).map(([before, now]) => ({
      fromMs: before.atMs,
      toMs: now.atMs,
      machinePercent: machinePercent(before, now),
      percent: new Map(
        [...now.cpuMs].map(([name, cpuMs]) => [
          name,
          percent(cpuMs - (before.cpuMs.get(name) ?? 0), now.atMs - before.atMs),
        ]),
      ),
    }));
  }

  /** CPU of the machine in the last second, percent of all cores. */
  latestMachinePercent(): number | undefined {
    const [before, now] = this.#samples.slice(-2);
    return before && now && machinePercent(before, now);
  }
}

function usageOf(name: string, samples: readonly Sample[]): Usage {
  const cpuAt = (sample: Sample | undefined) => sample?.cpuMs.get(name) ?? 0;
  const [first, last] = [samples[0] as Sample, samples.at(-1) as Sample];
  const cpuMs = cpuAt(last) - cpuAt(first);
  return {
    name,
    cpuMs: Math.round(cpuMs),
    averagePercent: percent(cpuMs, last.atMs - first.atMs),
    peakPercent: Math.max(
      ...pairs(samples).map(([before, now]) => percent(cpuAt(now) - cpuAt(before), now.atMs - before.atMs)),
    ),
    memory: memoryOf(name, samples),
  };
}

function memoryOf(name: string, samples: readonly Sample[]): Memory | null {
  const all = samples.flatMap(({ atMs, resident }) => {
    const found = resident.get(name);
    return found === undefined ? [] : [{ ...found, minute: atMs / 60_000 }];
  });
  const points = all.filter(({ startTime }) => startTime === all.at(-1)?.startTime);
  const restarts = new Set(all.map(({ startTime }) => startTime)).size - 1;
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return null;
  const late = points.slice(Math.floor(points.length / 2));
  const slopeMinutes = last.minute - (late[0]?.minute ?? last.minute);
  return {
    firstBytes: first.bytes,
    lastBytes: last.bytes,
    slopeBytesPerMinute: slopeMinutes >= 1 ? Math.round(slopeOf(late)) : null,
    slopeMinutes: Math.round(slopeMinutes * 100) / 100,
    restarts,
    unseenMinutes: Math.round(((samples.at(-1)?.atMs ?? 0) / 60_000 - last.minute) * 100) / 100,
  };
}

/** Of the straight line through the points with the least squares. */
function slopeOf(points: readonly { readonly minute: number; readonly bytes: number }[]): number {
  const mean = (of: (point: { minute: number; bytes: number }) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [minute, bytes] = [mean((point) => point.minute), mean((point) => point.bytes)];
  const spread = mean((point) => (point.minute - minute) ** 2);
  return mean((point) => (point.minute - minute) * (point.bytes - bytes)) / spread;
}

function machineUsage(samples: readonly Sample[], processes: readonly Usage[]): MachineUsage {
  const [first, last] = [samples[0] as Sample, samples.at(-1) as Sample];
  const ownMs = processes.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  const othersMs = Math.max(0, last.machine.busyMs - first.machine.busyMs - ownMs);
  return {
    cores: cpus().length,
    averagePercent: machinePercent(first, last),
    othersPercent: percent(othersMs, last.atMs - first.atMs),
    peakPercent: Math.max(...pairs(samples).map(([before, now]) => machinePercent(before, now))),
  };
}

function machinePercent(before: Sample, now: Sample): number {
  return percent(now.machine.busyMs - before.machine.busyMs, now.machine.allMs - before.machine.allMs);
}

function pairs(samples: readonly Sample[]): readonly (readonly [Sample, Sample])[] {
  return samples.slice(1).map((now, index) => [samples[index] as Sample, now]);
}

function percent(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.round((1000 * part) / whole) / 10;
}

/** CPU time of all cores since the machine started, ms. */
function machineTimes(): { busyMs: number; allMs: number } {
  const times = cpus().map((cpu) => cpu.times);
  const idleMs = times.reduce((sum, { idle }) => sum + idle, 0);
  const allMs = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { busyMs: allMs - idleMs, allMs };
}
