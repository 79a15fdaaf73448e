import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readProcFile } from '../../process/proc.ts';
import { runProgram } from '../../process/run-program.ts';
import { unless } from '../../shared/unless.ts';

/** The last server of a data directory, as its postmaster.pid describes it (pidfile.h); undefined after a clean end. */
interface Postmaster {
  readonly pid: number;
  /** Of its System V segment; id is NaN before it has one. */
  readonly key: number;
  readonly id: number;
}

/** Pid of the server that runs on this data. Linux only: undefined elsewhere. */
export async function runningServer(dataDir: string): Promise<number | undefined> {
  const pid = (await lastPostmaster(dataDir))?.pid;
  return pid !== undefined && readProcFile(pid, 'cmdline')?.includes(dataDir) ? pid : undefined;
}

/**
 * Removes the System V segment of a server that was killed. The kernel keeps it for the next server on the same data, and there
 * is none where the data is removed. Does nothing while the server runs. Linux only. Rejects when ipcrm refuses.
 */
export async function removeSegment(dataDir: string): Promise<void> {
  const postmaster = await lastPostmaster(dataDir);
  if (postmaster === undefined || (await runningServer(dataDir)) !== undefined) return;
  const { pid, key, id } = postmaster;
  const segments = (await contentOf('/proc/sysvipc/shm'))?.split('\n') ?? [];
  // By key and creator too: after a restart of the machine the id may be that of another program's segment.
  const isLeft = segments.map(segmentOf).some((one) => one.id === id && one.key === key && one.pid === pid);
  // Where there is no ipcrm, its 56 bytes stay.
  if (isLeft) await runProgram('ipcrm', ['-m', String(id)]).catch(unless('ENOENT'));
}

async function lastPostmaster(dataDir: string): Promise<Postmaster | undefined> {
  const lines = (await contentOf(join(dataDir, 'postmaster.pid')))?.split('\n');
  if (lines === undefined) return undefined;
  const [, key = 0, id] = /^ *(\d+) +(\d+)/.exec(lines[6] ?? '') ?? [];
  // An int that was printed as an unsigned long.
  return { pid: Number(lines[0]), key: Number(BigInt.asIntN(32, BigInt(key))), id: Number(id) };
}

/** A line of /proc/sysvipc/shm (proc_sysvipc(5)). */
function segmentOf(line: string): Postmaster {
  const [key, id, _perms, _size, creator] = line.trim().split(/ +/);
  return { pid: Number(creator), key: Number(key), id: Number(id) };
}

async function contentOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(unless('ENOENT'));
}
