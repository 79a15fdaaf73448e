import { setTimeout as delay } from 'node:timers/promises';

export interface Until {
  readonly limitMs: number;
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

/** Looks until `look` gives something; undefined when the limit ended first. Looks at least once. */
export async function until<T>(
  look: () => Promise<T | undefined>,
  { limitMs, everyMs, signal }: Until,
): Promise<T | undefined> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined || performance.now() + everyMs > deadline) return seen;
    await delay(everyMs, undefined, { signal });
  }
}
