import { join } from 'node:path';
import type { Project } from './project.ts';

const NAME = 'flags.json';

/** A separate folder, because a container sees a file that is replaced only when it is given the folder. */
export function flagFolder({ stateDir }: Pick<Project, 'stateDir'>): string {
  return join(stateDir, 'flags');
}

/** The file that running services look at, in the project's folder or where that is mounted; it need not exist. */
export function flagFile(folder: string): string {
  return join(folder, NAME);
}
