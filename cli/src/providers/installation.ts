import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { takeProjectLock } from '../process/project-lock.ts';
import { poll } from '../shared/wait-until.ts';
import type { OnProgress } from './component.ts';

const POLL_MS = 200;

export interface InstallationPlace {
  /** Shared by everything that its user runs. */
  readonly cacheDir: string;
  readonly onProgress: OnProgress;
  readonly signal?: AbortSignal;
}

/**
 * Resolves when no other process installs the thing of this name, and keeps others waiting until it is disposed; free
 * again when its holder ends. There is no limit but the signal: how long an installation may take is for who carries it
 * out. What was missing before may be there now. Rejects with the signal's reason, or when the folder cannot be
 * written.
 */
export async function holdInstallation(
  name: string,
  { cacheDir, onProgress, signal }: InstallationPlace,
): Promise<AsyncDisposable> {
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const file = join(cacheDir, `installing-${name}`);
  const free = await takeProjectLock(file);
  if (free === undefined) onProgress(`waiting for another process that installs ${name} (${file})`);
  const lock = free ?? (await poll(() => takeProjectLock(file), { everyMs: POLL_MS, signal }));
  return { [Symbol.asyncDispose]: () => lock.release() };
}
