import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** A process that cannot be mistaken for a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Linux: clock ticks since boot, from /proc; elsewhere the start time as `ps` prints it, without spaces. */
  readonly startTime: string;
  /** Linux: of the boot those ticks count from. Absent where the kernel tells none, and in what older versions wrote. */
  readonly bootId?: string;
}

const run = promisify(execFile);
const hasProc = process.platform === 'linux';

/** Identity of a running process; undefined when it is gone or a zombie. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  const startTime = hasProc ? startTimeFromProc(pid) : await startTimeFromPs(pid);
  const bootId = currentBootId();
  return startTime === undefined ? undefined : { pid, startTime, ...(bootId !== undefined && { bootId }) };
}

let bootId: string | undefined | null = null;

/** Of the running kernel (random(4)); undefined where it tells none. */
function currentBootId(): string | undefined {
  if (bootId === null) bootId = hasProc ? readBootId() : undefined;
  return bootId;
}

function readBootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // Some sandboxes have no such file: pid and start time must do there.
    return undefined;
  }
}

/** True while this very process runs; what ran before the machine was restarted does not. A zombie has ended: whoever must reap it may do so late. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  const now = await identifyProcess(identity.pid);
  if (now === undefined || now.startTime !== identity.startTime) return false;
  return identity.bootId === undefined || identity.bootId === now.bootId;
}

function startTimeFromProc(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
  return parseProcStat(stat)?.startTime;
}

/** What /proc/<pid>/stat says of a process. */
export interface ProcStat {
  readonly startTime: string;
  readonly parent: number;
  readonly cpuTicks: number;
  /** Of children that have ended and were waited for. */
  readonly endedChildrenTicks: number;
}

/**
 * Start time, parent and CPU ticks from the text of /proc/<pid>/stat (proc_pid_stat(5)); undefined for a zombie. The
 * command in parentheses may itself hold spaces and parentheses, so fields are counted from the last one.
 */
export function parseProcStat(stat: string): ProcStat | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent] = fields;
  if (state === 'Z' || state === 'X' || state === undefined) return undefined;
  // Fields 14 to 17 and 22 of the manual page; the first one after the parenthesis is field 3.
  return {
    startTime: fields[19] ?? '',
    parent: Number(parent),
    cpuTicks: Number(fields[11]) + Number(fields[12]),
    endedChildrenTicks: Number(fields[13]) + Number(fields[14]),
  };
}

async function startTimeFromPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await run('ps', ['-o', 'state=,lstart=', '-p', String(pid)], {
      env: { ...process.env, LC_ALL: 'C' },
    });
    const [state = '', ...started] = stdout.trim().split(/\s+/);
    return state.startsWith('Z') || started.length === 0 ? undefined : started.join('_');
  } catch (error) {
    // ps exits with 1 when there is no such process.
    if ((error as { code?: unknown }).code === 1) return undefined;
    throw error;
  }
}
