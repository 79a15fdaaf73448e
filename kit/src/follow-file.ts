import { statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** How often a file is polled, in ms. */
const LOOK_EVERY_MS = 500;

/**
 * Calls `changed` after each change of a file, also of one that is replaced, made later or removed, and also when it was rewritten with
 * the same text. Its folder is watched, so that a change is seen within milliseconds. What no event reports is seen by polling: a
 * folder behind a symbolic link that is exchanged, as ConfigMaps are, and a machine without events to spare. Keeps no process alive.
 */
export function followFile(path: string, changed: () => void, { lookEveryMs = LOOK_EVERY_MS } = {}): Disposable {
  let seen = stateOf(path);
  function look(): void {
    const now = stateOf(path);
    if (now === seen) return;
    seen = now;
    changed();
  }

  // `watchFile` would have another thread look, which costs more than the look.
  const polling = setInterval(look, lookEveryMs).unref();
  const watcher = watchFolder(path, look);
  return {
    [Symbol.dispose]() {
      clearInterval(polling);
      watcher?.close();
    },
  };
}

/** Undefined where there is no folder yet, or no events: polling is enough, only later. */
function watchFolder(path: string, look: () => void) {
  const name = basename(path);
  try {
    const watcher = watch(dirname(path), { persistent: false }, (_, file) => {
      if (file === null || file === name) look();
    });
    return watcher.on('error', () => watcher.close());
  } catch {
    return undefined;
  }
}

/**
 * Another text with the same size within one tick of the clock has another inode where it was replaced. Of one that cannot be looked
 * at, why: who reads it then has the same error.
 */
function stateOf(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? 'none' : [stats.ino, stats.mtimeNs, stats.size].join(' ');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}
