import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TransientError } from './failures.ts';

/**
 * Named places where a test can make this process die, wait or fail: a file `<service>.<name>` in the failpoints folder
 * arms one for its next hit, and is removed before it acts, so that a restarted process does not die again. The file
 * holds the action: `kill [<ms>]` (SIGKILL to itself, now or that much later while work goes on), `delay <ms>` or `error`.
 */
export type Failpoint = (name: string) => Promise<void>;

/** Does nothing, at the price of a call. */
const disarmed: Failpoint = () => Promise.resolve();

/** The failpoints of a service; without a folder they cannot be armed. */
export function createFailpoints(service: string, folder: string | undefined): Failpoint {
  if (folder === undefined) return disarmed;
  return async (name) => {
    const path = join(folder, `${service}.${name}`);
    if (!existsSync(path)) return;
    const action = readFileSync(path, 'utf8').trim();
    rmSync(path, { force: true });
    await act(name, action);
  };
}

async function act(name: string, action: string): Promise<void> {
  const [verb, argument] = action.split(/\s+/);
  if (verb === 'kill') kill(Number(argument ?? 0));
  else if (verb === 'delay') await delay(Number(argument));
  else if (verb === 'error') throw new TransientError(`failpoint ${name}`);
  else throw new RangeError(`failpoint ${name}: unknown action "${action}", expected kill [<ms>], delay <ms> or error`);
}

/** What was handed to a socket just before leaves the process within a few ms. */
function kill(afterMs: number): void {
  const now = () => process.kill(process.pid, 'SIGKILL');
  if (afterMs === 0) now();
  else setTimeout(now, afterMs);
}
