import { listPids, type ProcStat, readProcStat, TICKS_PER_SECOND } from './proc.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** Every process of this machine, by pid. */
export type ProcessTable = ReadonlyMap<number, ProcStat>;

/** One look at all processes. Linux only. */
export async function readProcessTable(): Promise<ProcessTable> {
  const stats = listPids().map((pid) => [pid, readProcStat(pid)] as const);
  return new Map(stats.flatMap(([pid, stat]) => (stat === undefined ? [] : [[pid, stat] as const])));
}

/** CPU time of this very process so far, ms; undefined when it is gone, or its pid is another's by now. */
export function ownCpuMs(table: ProcessTable, { pid, startTime }: ProcessIdentity): number | undefined {
  const found = table.get(pid);
  return found?.startTime === startTime ? (found.cpuTicks * 1000) / TICKS_PER_SECOND : undefined;
}

/**
 * CPU time of a process and of everything below it so far, ms: also of children that have ended, as a PostgreSQL backend
 * does whose connection is closed. The living ones of `others`, and what is below them, are left out. Undefined like
 * `ownCpuMs`.
 */
export function treeCpuMs(
  table: ProcessTable,
  root: ProcessIdentity,
  others: ReadonlySet<number> = new Set(),
): number | undefined {
  if (table.get(root.pid)?.startTime !== root.startTime) return undefined;
  const children = Map.groupBy(table.keys(), (pid) => table.get(pid)?.parent);
  const ticksOf = (pid: number): number => {
    const { cpuTicks = 0, endedChildrenTicks = 0 } = table.get(pid) ?? {};
    const below = (children.get(pid) ?? []).filter((child) => !others.has(child));
    return cpuTicks + endedChildrenTicks + below.reduce((sum, child) => sum + ticksOf(child), 0);
  };
  return (ticksOf(root.pid) * 1000) / TICKS_PER_SECOND;
}
