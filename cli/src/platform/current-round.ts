import { join } from 'node:path';
import type { Project } from './project.ts';

/** Has the id of the drill's round that is on; there is no such file while none is. */
export function currentRoundFile({ stateDir }: Pick<Project, 'stateDir'>): string {
  return join(stateDir, 'drills', 'current');
}
