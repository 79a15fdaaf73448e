import { readFile } from 'node:fs/promises';

/** Ids of the System V segments that these processes made, in any order (proc_sysvipc(5)). Linux only. */
export async function segmentsOf(...pids: readonly number[]): Promise<readonly string[]> {
  const lines = (await readFile('/proc/sysvipc/shm', 'utf8')).split('\n').map((line) => line.trim().split(/ +/));
  return lines.flatMap(([_key, id = '', _perms, _size, creator]) => (pids.includes(Number(creator)) ? [id] : []));
}
