import { setTimeout as delay } from 'node:timers/promises';

/** Gives what was waited for, or undefined while there is none. */
export type Look<T> = () => Promise<T | undefined> | T | undefined;

export interface Polling {
  readonly everyMs: number;
  /** Ends the wait between two looks: it rejects with an AbortError. */
  readonly signal?: AbortSignal | undefined;
}

/** Looks until there is something, and resolves with it. Has no limit but the signal and what `look` throws. */
export async function poll<T>(look: Look<T>, { everyMs, signal }: Polling): Promise<T> {
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    await delay(everyMs, undefined, signal === undefined ? {} : { signal });
  }
}

const OVER = Symbol('the limit ended');

/** The same for at most `limitMs`: undefined when the next look would come later. Looks at least once. */
export async function pollFor<T>(
  look: Look<T>,
  { limitMs, ...polling }: Polling & { readonly limitMs: number },
): Promise<T | undefined> {
  const deadline = performance.now() + limitMs;
  const lookOrEnd = async () => {
    const seen = await look();
    return seen === undefined && performance.now() + polling.everyMs > deadline ? OVER : seen;
  };
  const seen = await poll<T | typeof OVER>(lookOrEnd, polling);
  return seen === OVER ? undefined : seen;
}

const EVERY_MS = 25;

/** The same for what must come: rejects with what was waited for when it has not after `limitMs`. */
export function waitUntil<T>(waitingFor: string, limitMs: number, look: Look<T>): Promise<T> {
  const deadline = performance.now() + limitMs;
  const lookOrThrow = async () => {
    const seen = await look();
    if (seen === undefined && performance.now() >= deadline) {
      throw new Error(`waited ${limitMs / 1000} s for ${waitingFor}`);
    }
    return seen;
  };
  return poll(lookOrThrow, { everyMs: EVERY_MS });
}
