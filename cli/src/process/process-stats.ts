import { readProcFile, readProcStat, TICKS_PER_SECOND } from './proc.ts';
import { exitCodeOf, runProgram } from './run-program.ts';

/** CPU time so far in ms, and resident memory in bytes. */
export interface ProcessUsage {
  readonly cpuMs: number;
  readonly rssBytes: number;
}

const PAGE_BYTES = 4096;

/**
 * What a process and everything below it use; undefined when it is gone. PostgreSQL works in a process for each connection.
 * Elsewhere than on Linux the process alone.
 */
export async function processUsage(pid: number): Promise<ProcessUsage | undefined> {
  return process.platform === 'linux' ? usageFromProc(pid) : usageFromPs(pid);
}

/** Resident memory of this process alone, bytes; undefined when it is gone. Linux only. */
export async function ownResidentBytes(pid: number): Promise<number | undefined> {
  return readUsage(pid)?.rssBytes;
}

function usageFromProc(pid: number): ProcessUsage | undefined {
  const own = readUsage(pid);
  if (own === undefined) return undefined;
  const below = own.children.flatMap(usageBelow);
  return {
    cpuMs: own.cpuMs + below.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    // Memory that children share (code, PostgreSQL's buffers) is counted once, with the parent.
    rssBytes: own.rssBytes + below.reduce((sum, { rssBytes, sharedBytes }) => sum + rssBytes - sharedBytes, 0),
  };
}

function usageBelow(pid: number): readonly OwnUsage[] {
  const own = readUsage(pid);
  return own === undefined ? [] : [own, ...own.children.flatMap(usageBelow)];
}

interface OwnUsage extends ProcessUsage {
  readonly sharedBytes: number;
  readonly children: readonly number[];
}

/** One process, with the CPU time of children that have ended. */
function readUsage(pid: number): OwnUsage | undefined {
  const stat = readProcStat(pid);
  const memory = readProcFile(pid, 'statm');
  if (stat === undefined || memory === undefined) return undefined;
  const [, residentPages, sharedPages] = memory.split(' ').map(Number);
  return {
    cpuMs: ((stat.cpuTicks + stat.endedChildrenTicks) * 1000) / TICKS_PER_SECOND,
    rssBytes: (residentPages ?? 0) * PAGE_BYTES,
    sharedBytes: (sharedPages ?? 0) * PAGE_BYTES,
    children: readChildren(pid),
  };
}

/** Of its main thread, which is the one that forks; none where the kernel lacks the file (CONFIG_PROC_CHILDREN). */
function readChildren(pid: number): readonly number[] {
  const children = readProcFile(pid, `task/${pid}/children`) ?? '';
  return children.split(' ').filter(Boolean).map(Number);
}

async function usageFromPs(pid: number): Promise<ProcessUsage | undefined> {
  try {
    const { stdout } = await runProgram('ps', ['-o', 'time=,rss=', '-p', String(pid)]);
    const [time = '0:00', kibibytes = '0'] = stdout.trim().split(/\s+/);
    return { cpuMs: parseCpuTime(time) * 1000, rssBytes: Number(kibibytes) * 1024 };
  } catch (error) {
    if (exitCodeOf(error) === 1) return undefined;
    throw error;
  }
}

/** Seconds from `ps`' `[[hh:]mm:]ss.cc`. */
function parseCpuTime(text: string): number {
  return text.split(':').reduce((seconds, part) => seconds * 60 + Number(part), 0);
}

/** CPU share since the previous question, in percent of one core. */
export interface CpuMeter {
  percent(pid: number, cpuMs: number): number | undefined;
}

/** The first result for a process is undefined: there is nothing to compare with. */
export function createCpuMeter(nowMs: () => number = () => performance.now()): CpuMeter {
  const last = new Map<number, { atMs: number; cpuMs: number; percent: number | undefined }>();
  return {
    percent(pid, cpuMs) {
      const atMs = nowMs();
      const before = last.get(pid);
      // Ticks are 10 ms: over a shorter time than this the quotient would be noise.
      if (before && atMs - before.atMs < 200) return before.percent;
      const percent = before ? (100 * (cpuMs - before.cpuMs)) / (atMs - before.atMs) : undefined;
      last.set(pid, { atMs, cpuMs, percent });
      return percent;
    },
  };
}
