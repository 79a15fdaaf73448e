import { unwatchFile, watchFile } from 'node:fs';

/** How often a file is polled, in ms. */
const LOOK_EVERY_MS = 500;

/**
 * Calls `changed` after each change of a file, by polling, which also sees a file that is replaced, made later or removed. It
 * is also called for a file that is missing or was rewritten with the same text. Keeps no process alive.
 */
export function followFile(path: string, changed: () => void): Disposable {
  watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, changed);
  return { [Symbol.dispose]: () => unwatchFile(path, changed) };
}
