import { existsSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Project } from './project.ts';

/*
 * The folder through which failpoints are armed and counted; the services' side is the kit's failpoints.ts. A file
 * `<service>.<name>` is an armed failpoint, `hits/<service>.<name>` and `acted/<service>.<name>` have a byte per hit and act.
 */

/** Where the project's failpoints are armed; it exists once services ran with failpoints. */
export function failpointFolder({ stateDir }: Pick<Project, 'stateDir'>): string {
  return join(stateDir, 'failpoints');
}

/** True when services that start with this environment have failpoints. */
export function hasFailpoints(env: NodeJS.ProcessEnv): boolean {
  return env.SHOPCTL_FAILPOINTS === '1';
}

/** What a counter file in `hits` or `acted` says; 0 when it was never written. */
export function countOf(folder: string, kind: 'hits' | 'acted', failpoint: string): number {
  return statSync(join(folder, kind, failpoint), { throwIfNoEntry: false })?.size ?? 0;
}

/** Failpoints armed now: `orders.stock-reserved:unsaved`. */
export async function armedFailpoints(folder: string): Promise<readonly string[]> {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.')).map(({ name }) => name);
}

/** Arms a failpoint; `id` names the draft. Renamed into place: a service that looks meanwhile must not find half a file. */
export async function armFailpoint(file: { folder: string; failpoint: string; id: string }, text: string) {
  await mkdir(file.folder, { recursive: true, mode: 0o700 });
  const draft = join(file.folder, `.${file.id}`);
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, join(file.folder, file.failpoint));
}

export async function disarmFailpoint(file: string): Promise<void> {
  await rm(file, { force: true });
}

/** Counts begin again at 0. Emptied, not removed: services keep the files open. */
export async function resetCounts(folder: string): Promise<void> {
  for (const kind of ['hits', 'acted']) {
    const counters = existsSync(join(folder, kind)) ? await readdir(join(folder, kind)) : [];
    await Promise.all(counters.map((name) => truncate(join(folder, kind, name))));
  }
}
