import type { ComponentContext } from '../providers/component.ts';
import { findTool } from '../providers/resolve-tool.ts';

/** How to get it; needs no root. */
export const FAKETIME_HINT =
  'run "shopctl setup --with libfaketime", install it ("sudo dnf install libfaketime"), or name the library in SHOPCTL_LIBFAKETIME';

/** libfaketime's library; undefined when it is not here yet. Installs nothing. */
export function findLibfaketime(context: Pick<ComponentContext, 'cacheDir' | 'env'>): Promise<string | undefined> {
  return findTool('libfaketime', context);
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
