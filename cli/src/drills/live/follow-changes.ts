import { stat } from 'node:fs/promises';
import { messageOf } from '../../errors.ts';
import { changeFile, type RecordedChange, readChanges } from '../../platform/change-log.ts';
import type { Project } from '../../platform/project.ts';
import { unless } from '../../shared/unless.ts';

const LOOK_EVERY_MS = 500;

/** Calls back for each change of a project from now on: commands append to its log as well as the supervisor. */
export function followChanges(
  project: Pick<Project, 'stateDir'>,
  since: Date,
  onChange: (change: RecordedChange) => void,
): { stop(): Promise<void> } {
  const seen = new Set<string>();
  let size = -1;
  let looking: Promise<void> = Promise.resolve();

  async function look(): Promise<void> {
    const now = await stat(changeFile(project)).catch(unless('ENOENT'));
    if (now === undefined || now.size === size) return;
    size = now.size;
    const { changes } = await readChanges(project);
    for (const change of changes) {
      if (seen.has(change.id) || Date.parse(change.time) < since.getTime()) continue;
      seen.add(change.id);
      onChange(change);
    }
  }
  const lookNext = () => {
    looking = looking
      .then(look)
      .catch((error: unknown) => console.error(`supervisor: drill: changes are not read: ${messageOf(error)}`));
    return looking;
  };
  const timer = setInterval(() => void lookNext(), LOOK_EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await lookNext();
    },
  };
}
