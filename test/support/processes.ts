import { readFileSync } from 'node:fs';

/** Linux only. A process that has ended and was not waited for is not alive. */
export function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
