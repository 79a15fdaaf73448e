import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { newestFirst } from '../providers/executables.ts';

/** Where packages put the variant for programs with threads: Debian's and its relatives', Fedora's, a build of one's own. */
const FOLDERS = ['/usr/lib/*/faketime', '/usr/lib64/faketime', '/usr/lib/faketime', '/usr/local/lib/faketime'];
const LIBRARY = 'libfaketimeMT.so.1';

/** How to get it; needs no root of ours, so it is not done for the user. */
export const FAKETIME_HINT =
  'install libfaketime ("sudo apt-get install libfaketime", "sudo dnf install libfaketime"), or name the library in SHOPCTL_LIBFAKETIME';

/** libfaketime's library, SHOPCTL_LIBFAKETIME first; undefined when there is none. Linux only. */
export async function findLibfaketime(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  const named = env.SHOPCTL_LIBFAKETIME;
  if (named) return existsSync(named) ? named : undefined;
  for (const folder of FOLDERS) {
    const [found] = await newestFirst(join(folder, LIBRARY));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Environment of a process whose wall clock is off by so much. Monotonic clocks are left alone, because timers and
 * durations rest on them; so are the times of files. Source: README of libfaketime 0.9.10.
 */
export function faketimeEnvironment(library: string, offsetMs: number): Readonly<Record<string, string>> {
  return {
    LD_PRELOAD: library,
    FAKETIME: `${offsetMs < 0 ? '-' : '+'}${Math.abs(offsetMs) / 1000}`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
    // Its shared memory would outlive a killed process.
    FAKETIME_DISABLE_SHM: '1',
  };
}
