import { readdirSync, readFileSync } from 'node:fs';

/*
 * All that is read of /proc/<pid> of other processes (proc(5)). Linux only. Read synchronously, as nothing of procfs
 * waits for a disk. `readFile` takes a buffer of 64 KB for each of these files, whose size is 0 to it, and a shop has
 * 150 of them.
 */

/** USER_HZ: 100 on every Linux that Node supports. */
export const TICKS_PER_SECOND = 100;

/** What /proc/<pid>/stat says of a process. */
export interface ProcStat {
  /** Clock ticks since boot. */
  readonly startTime: string;
  readonly parent: number;
  readonly cpuTicks: number;
  /** Of children that have ended and were waited for. */
  readonly endedChildrenTicks: number;
}

/** Every process of this machine. */
export function listPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** A file of /proc/<pid>; undefined when the process is gone. */
export function readProcFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
}

/** Undefined when the process is gone, or a zombie. */
export function readProcStat(pid: number): ProcStat | undefined {
  return parseProcStat(readProcFile(pid, 'stat') ?? '');
}

/** State letter and parent of a process, a zombie's too; undefined when it is gone. */
export function processState(pid: number): { readonly state: string; readonly parent: number } | undefined {
  const stat = readProcFile(pid, 'stat');
  if (stat === undefined) return undefined;
  const [state = '', parent] = fieldsOf(stat);
  return { state, parent: Number(parent) };
}

/** Start time, parent and CPU ticks from the text of /proc/<pid>/stat (proc_pid_stat(5)); undefined for a zombie. */
export function parseProcStat(stat: string): ProcStat | undefined {
  const fields = fieldsOf(stat);
  const [state, parent] = fields;
  if (state === 'Z' || state === 'X' || parent === undefined) return undefined;
  // Fields 14 to 17 and 22 of the manual page; the first one after the parenthesis is field 3.
  return {
    startTime: fields[19] ?? '',
    parent: Number(parent),
    cpuTicks: Number(fields[11]) + Number(fields[12]),
    endedChildrenTicks: Number(fields[13]) + Number(fields[14]),
  };
}

/** From the state on. The command in parentheses may itself hold spaces and parentheses: counted from the last one. */
function fieldsOf(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
