import { poll } from '../../../cli/src/shared/wait-until.ts';

interface EventuallyOptions {
  readonly withinMs: number;
  readonly everyMs?: number;
  readonly seen?: () => unknown;
}

/** Looks take processor time that the platform of another file needs. */
const POLL_MS = 100;

/** Of a probe that starts a process, or sends a request through several services. */
export const COSTLY_POLL_MS = 300;

/**
 * Looks every `everyMs` until `probe` gives something other than undefined and false, and resolves with it. Throws after `withinMs` with
 * what was waited for and what `seen` says. A probe that throws has not seen it yet: what it asks may be unavailable.
 */
export async function eventually<T>(
  waitingFor: string,
  { withinMs, everyMs = POLL_MS, seen }: EventuallyOptions,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let failure: unknown;
  const look = async (): Promise<T | undefined> => {
    try {
      failure = undefined;
      const found = await probe();
      if (found !== undefined && found !== false) return found;
    } catch (error) {
      failure = error;
    }
    if (performance.now() >= deadline) {
      const last = seen === undefined ? '' : `; seen: ${JSON.stringify(await seen())}`;
      throw new Error(`waited ${withinMs} ms for ${waitingFor}${last}`, { cause: failure });
    }
    return undefined;
  };
  return poll(look, { everyMs });
}
