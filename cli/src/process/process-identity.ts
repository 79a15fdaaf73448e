import { readFileSync } from 'node:fs';
import { readProcStat } from './proc.ts';
import { exitCodeOf, runProgram } from './run-program.ts';

/** A process that cannot be mistaken for a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Linux: clock ticks since boot, from /proc; elsewhere the start time as `ps` prints it, without spaces. */
  readonly startTime: string;
  /** Linux: of the boot those ticks count from. Absent where the kernel has none, and in what older versions wrote. */
  readonly bootId?: string;
}

const hasProc = process.platform === 'linux';

/** Identity of a running process; undefined when it is gone or a zombie. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  const startTime = hasProc ? readProcStat(pid)?.startTime : await startTimeFromPs(pid);
  const bootId = currentBootId();
  return startTime === undefined ? undefined : { pid, startTime, ...(bootId !== undefined && { bootId }) };
}

let bootId: string | undefined | null = null;

/** Of the running kernel (random(4)); undefined where it has none. */
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

/**
 * True while this very process runs; what ran before the machine was restarted does not. A zombie has ended: its parent
 * may reap it late.
 */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  const now = await identifyProcess(identity.pid);
  if (now === undefined || now.startTime !== identity.startTime) return false;
  return identity.bootId === undefined || identity.bootId === now.bootId;
}

async function startTimeFromPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await runProgram('ps', ['-o', 'state=,lstart=', '-p', String(pid)], {
      env: { ...process.env, LC_ALL: 'C' },
    });
    const [state = '', ...started] = stdout.trim().split(/\s+/);
    return state.startsWith('Z') || started.length === 0 ? undefined : started.join('_');
  } catch (error) {
    // ps exits with 1 when there is no such process.
    if (exitCodeOf(error) === 1) return undefined;
    throw error;
  }
}
