import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Project } from '../platform/project.ts';
import { createRunFolder, type RunFolder } from '../report/run-folder.ts';

/**
 * A folder for the files of one load, which removes it at its end. What is there when another begins is of a command
 * that was killed: loads of a project run one after the other.
 */
export async function createLoadFolder(
  { stateDir }: Pick<Project, 'stateDir'>,
  { scenario, seed }: { scenario: string; seed: number },
): Promise<RunFolder> {
  const parent = join(stateDir, 'load');
  await rm(parent, { recursive: true, force: true });
  return createRunFolder(parent, { name: scenario, seed, at: new Date() });
}
