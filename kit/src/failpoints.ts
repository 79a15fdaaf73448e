import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TransientError } from './failures.ts';

/**
 * Named places where a test can make this process die, wait or fail: a file `<service>.<name>` in the failpoints folder
 * arms one for its next hit, and is removed before it acts, so that a restarted process does not die again. The file
 * holds the action: `kill` (SIGKILL to itself), `delay <ms>` or `error`.
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
  if (verb === 'kill') process.kill(process.pid, 'SIGKILL');
  else if (verb === 'delay') await delay(Number(argument));
  else if (verb === 'error') throw new TransientError(`failpoint ${name}`);
  else throw new RangeError(`failpoint ${name}: unknown action "${action}", expected kill, delay <ms> or error`);
}
