import { type FSWatcher, type WatchListener, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { unless } from '../shared/unless.ts';

/** Editors write a file in several steps; what follows within this time belongs to the same save, ms. */
const QUIET_MS = 30;

export interface WatchFoldersOptions {
  /** Absolute. */
  readonly root: string;
  /** Relative to the root; those that do not exist are left out. */
  readonly folders: readonly string[];
  /** Called with what was saved, created or removed, relative to the root; never twice concurrently for one save. */
  readonly onSave: (files: readonly string[]) => void;
  /** A folder cannot be watched any more, or no further one can be. */
  readonly onProblem: (error: Error) => void;
}

/**
 * Watches folders and all below them until disposed. One watcher for each folder, not for each file: a file that an editor
 * replaces by another one stays watched.
 */
export async function watchFolders({ root, folders, onSave, onProblem }: WatchFoldersOptions): Promise<Disposable> {
  const watchers = new Map<string, FSWatcher>();
  const saved = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  const report = () => {
    const files = [...saved].toSorted();
    saved.clear();
    onSave(files);
  };
  const note = (path: string) => {
    saved.add(relative(root, path));
    clearTimeout(timer);
    timer = setTimeout(report, QUIET_MS);
  };
  /** And those below it. */
  const forget = (folder: string) => {
    for (const [path, watcher] of watchers) {
      if (path !== folder && !path.startsWith(folder + sep)) continue;
      watcher.close();
      watchers.delete(path);
    }
  };
  const changed = (event: string, folder: string, name: string) => {
    if (isOver || isIgnored(name)) return;
    const path = join(folder, name);
    note(path);
    if (event !== 'rename') return;
    // It may be a new folder, whose files may be there already. The watcher of one that it replaces would report nothing more.
    forget(path);
    add(path, note).catch(onProblem);
  };

  /**
   * Watches a folder and those below it; calls `found` with the files in them. Does nothing for what is not a folder.
   */
  async function add(folder: string, found: (path: string) => void): Promise<void> {
    const status = await stat(folder).catch(unlessRemoved);
    if (!status?.isDirectory() || isOver || watchers.has(folder)) return;
    const watcher = open(folder, (event, name) => void (name !== null && changed(event, folder, name)));
    if (watcher === undefined) return;
    // Removed while it was watched: its parent has reported that.
    watcher.on('error', (error: NodeJS.ErrnoException) => {
      forget(folder);
      if (error.code !== 'ENOENT' && error.code !== 'EPERM') onProblem(error);
    });
    watchers.set(folder, watcher);
    // Read once it is watched: what is made in between is found here, or reported, or both.
    const entries = await readdir(folder, { withFileTypes: true }).catch(unlessRemoved);
    for (const entry of entries ?? []) {
      if (isIgnored(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) await add(path, found);
      else found(path);
    }
  }

  for (const folder of folders) await add(join(root, folder), () => {});
  return {
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
      for (const folder of [...watchers.keys()]) forget(folder);
    },
  };
}

/** Undefined where the folder was removed meanwhile. */
function open(folder: string, listener: WatchListener<string>): FSWatcher | undefined {
  try {
    return watch(folder, listener);
  } catch (error) {
    return unlessRemoved(error as NodeJS.ErrnoException);
  }
}

/** Drafts and backups of editors, and packages. */
function isIgnored(name: string): boolean {
  return /^\.|~$|^node_modules$|^4913$|\.(sw[a-z]|tmp)$/.test(name);
}

const unlessRemoved = unless('ENOENT', 'ENOTDIR');
