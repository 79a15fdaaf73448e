import { readProcessTable, treeCpuMs } from '../../../cli/src/process/process-table.ts';

/** CPU time since their start, in ms, by name. */
export type CpuReading = Readonly<Record<string, number>>;

/**
 * CPU time of each named process with everything below it, also of children that have ended and were waited for; 0 for one
 * that is gone. What is below a named process that is below another counts for the nearest one. In steps of 10 ms. Rejects
 * where there is no /proc.
 */
export async function readCpu(roots: Readonly<Record<string, number>>): Promise<CpuReading> {
  if (process.platform !== 'linux') throw new Error('CPU time is read from /proc: run the benchmark on Linux');
  const table = await readProcessTable();
  const named = new Set(Object.values(roots));
  const below = (pid: number) => {
    const found = table.get(pid);
    return found === undefined ? 0 : (treeCpuMs(table, { pid, startTime: found.startTime }, named) ?? 0);
  };
  return Object.fromEntries(Object.entries(roots).map(([name, pid]) => [name, below(pid)]));
}

/** What each name used between two readings, in ms. */
export function cpuBetween(before: CpuReading, after: CpuReading): CpuReading {
  return Object.fromEntries(Object.entries(after).map(([name, ms]) => [name, ms - (before[name] ?? 0)]));
}
