import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ: 100 on every Linux that Node supports. */
const MS_PER_TICK = 10;

/** CPU time since their start, in ms, by name. */
export type CpuReading = Readonly<Record<string, number>>;

interface ProcessTimes {
  readonly parent: number;
  readonly cpuMs: number;
}

/**
 * CPU time of each named process with everything below it, also of children that have ended and were waited for. What is
 * below a named process that is below another counts for the nearest one. From /proc, in steps of 10 ms. Throws where
 * there is no /proc.
 */
export function readCpu(roots: Readonly<Record<string, number>>): CpuReading {
  if (process.platform !== 'linux') throw new Error('CPU time is read from /proc: run the benchmark on Linux');
  const times = allTimes();
  const children = Map.groupBy(times.keys(), (pid) => times.get(pid)?.parent);
  const named = new Set(Object.values(roots));
  const below = (pid: number): number =>
    (children.get(pid) ?? [])
      .filter((child) => !named.has(child))
      .reduce((sum, child) => sum + below(child), times.get(pid)?.cpuMs ?? 0);
  return Object.fromEntries(Object.entries(roots).map(([name, pid]) => [name, below(pid)]));
}

/** What each name used between two readings, in ms. */
export function cpuBetween(before: CpuReading, after: CpuReading): CpuReading {
  return Object.fromEntries(Object.entries(after).map(([name, ms]) => [name, ms - (before[name] ?? 0)]));
}

function allTimes(): ReadonlyMap<number, ProcessTimes> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const entries = pids.flatMap((pid) => {
    const times = timesOf(pid);
    return times === undefined ? [] : [[Number(pid), times] as const];
  });
  return new Map(entries);
}

/** Undefined for a process that has ended meanwhile. Source: proc_pid_stat(5), fields 4 and 14 to 17. */
function timesOf(pid: string): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command in parentheses may itself hold spaces and parentheses; what follows is field 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), cpuMs: ticks * MS_PER_TICK };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
}
