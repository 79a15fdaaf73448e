import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 50;

/**
 * Looks until `probe` gives something other than undefined and false, and resolves with it. Throws after `withinMs` with
 * what was waited for and what `seen` says. A probe that throws has not seen it yet: what it asks may be away.
 */
export async function eventually<T>(
  waitingFor: string,
  { withinMs, seen }: { readonly withinMs: number; readonly seen?: () => unknown },
  probe: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let failure: unknown;
  for (;;) {
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
    await delay(POLL_MS);
  }
}
