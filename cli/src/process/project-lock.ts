import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { unless } from '../shared/unless.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from './process-identity.ts';

/** Held by the one supervisor of a project. */
export interface ProjectLock {
  release(): Promise<void>;
}

/**
 * Takes the lock, or resolves with undefined when a living process holds it. The lock is a link to a file that names
 * its holder: it needs no release to be free again after kill -9. A lock that cannot be read was torn by a power
 * failure, which its holder has not survived either: it is reported, and is free.
 */
export async function takeProjectLock(file: string): Promise<ProjectLock | undefined> {
  const own = await identifyProcess(process.pid);
  if (!own) throw new Error('this process has no start time');
  // Two takers in one process must not remove each other's draft.
  const draft = `${file}.${own.pid}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(own), { mode: 0o600, flush: true });
  try {
    for (;;) {
      if (await linkIfFree(draft, file)) return { release: () => rm(file, { force: true }) };
      const holder = await readHolder(file);
      if (holder && (await isAlive(holder))) return undefined;
      await removeStale(file, holder);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** The process that holds the lock; undefined when it is free. */
export async function lockHolder(file: string): Promise<ProcessIdentity | undefined> {
  const holder = await readHolder(file);
  return holder && (await isAlive(holder)) ? holder : undefined;
}

async function linkIfFree(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readHolder(file: string): Promise<ProcessIdentity | undefined> {
  const text = await readFile(file, 'utf8').catch(unless('ENOENT'));
  if (text === undefined) return undefined;
  const holder = parseHolder(text);
  if (!holder) console.error(`${file} names no process, as after a power failure: it is free`);
  return holder;
}

function parseHolder(text: string): ProcessIdentity | undefined {
  try {
    const { pid, startTime, bootId } = JSON.parse(text) as ProcessIdentity;
    return Number.isInteger(pid) && typeof startTime === 'string'
      ? { pid, startTime, ...(bootId !== undefined && { bootId }) }
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Two takers may both have seen that the holder has ended. Each moves what is there aside and looks at it: who finds a living
 * holder has moved the winner's lock and puts it back.
 */
async function removeStale(file: string, ended: ProcessIdentity | undefined): Promise<void> {
  const aside = `${file}.stale.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = await readHolder(aside);
  if (moved && (moved.pid !== ended?.pid || moved.startTime !== ended.startTime)) await linkIfFree(aside, file);
  await rm(aside, { force: true });
}
