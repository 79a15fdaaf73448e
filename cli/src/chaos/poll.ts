import { setTimeout as delay } from 'node:timers/promises';

const INTERVAL_MS = 25;

/**
 * Looks until `probe` gives something other than undefined, and resolves with it; throws after `limitMs` with what was
 * waited for.
 */
export async function until<T>(
  waitingFor: string,
  limitMs: number,
  probe: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    if (performance.now() >= deadline) throw new Error(`waited ${limitMs / 1000} s for ${waitingFor}`);
    await delay(INTERVAL_MS);
  }
}
