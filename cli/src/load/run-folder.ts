import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Project } from '../platform/project.ts';
import { identifyProcess, isAlive } from '../process/process-identity.ts';

/** A folder for the files of one run: `.shop/<project>/load/run-<pid>-<start time>-<random>`. */
export async function createRunFolder({ stateDir }: Pick<Project, 'stateDir'>): Promise<string> {
  const parent = join(stateDir, 'load');
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await removeLeft(parent);
  const own = await identifyProcess(process.pid);
  return mkdtemp(join(parent, `run-${process.pid}-${own?.startTime ?? 0}-`));
}

/** Folders of commands that were killed: a run removes its own. */
async function removeLeft(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid, startTime] = /^run-(\d+)-([^-]+)-/.exec(name) ?? [];
    if (pid === undefined || startTime === undefined) continue;
    if (!(await isAlive({ pid: Number(pid), startTime })))
      await rm(join(parent, name), { recursive: true, force: true });
  }
}
