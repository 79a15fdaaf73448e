import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSeededBugName } from '@shop/kit/seeded-bugs.ts';
import type { CommandDeps } from '../../command-context.ts';
import { endPlatform } from '../../platform/end-platform.ts';
import { openProject, type Project } from '../../platform/project.ts';
import { startPlatform } from '../../platform/start-platform.ts';
import { makeStateFolder } from '../../platform/state-folder.ts';
import { isSupervisorRunning } from '../../platform/supervisor-process.ts';
import type { PlatformNeeds } from '../format/schema.ts';
import { warmUp } from './warm-up.ts';

/*
 * A platform of the run's own has a project beside the user's. Its supervisor outlives a CLI that is killed with -9, as
 * every supervisor does; a note in the user's project says that it is there, and the next `chaos run` takes it down.
 */

/** The project beside the user's; a name has at most 31 characters. */
function ownProject(project: Project, env: NodeJS.ProcessEnv): Project {
  return openProject(`${project.name.slice(0, 25)}-chaos`, project.root, env);
}

const noteFile = (project: Project) => join(project.stateDir, 'chaos', 'own-platform.json');

/** Starts it and resolves when it is ready. An interruption takes back what was started. */
export async function startOwn(project: Project, needs: PlatformNeeds, deps: CommandDeps): Promise<Project> {
  const own = ownProject(project, deps.env);
  await makeStateFolder(join(project.stateDir, 'chaos'));
  await writeFile(noteFile(project), JSON.stringify({ project: own.name }), { mode: 0o600 });
  const cleanUps: (() => Promise<void>)[] = [];
  const env = { ...deps.env, ...needs.env, SHOPCTL_FAILPOINTS: '1' };
  try {
    await startPlatform(
      // As a command's project, so that an error which names commands names them for this platform.
      deps.projectFrom({ project: own.name }),
      [],
      { replicas: needs.replicas, seedBug: needs['seeded-bugs'].filter(isSeededBugName), build: true, direct: false },
      {
        output: deps.output,
        env,
        signal: deps.signal,
        // Only while it starts: afterwards the platform ends with the run, not by this.
        onInterrupt: (cleanUp) => void cleanUps.push(cleanUp),
      },
    );
    await warmUp(own, deps.signal);
  } catch (error) {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
    throw error;
  }
  return own;
}

/** Takes it down with its data. */
export async function endOwn(project: Project, deps: CommandDeps): Promise<void> {
  const own = ownProject(project, deps.env);
  await endPlatform(deps.projectFrom({ project: own.name }), { purge: true }, deps);
  await rm(noteFile(project), { force: true });
}

/** Takes down what an earlier run left: one that was killed, or was told to --keep it. */
export async function endLeftOver(project: Project, deps: CommandDeps): Promise<void> {
  const own = ownProject(project, deps.env);
  const isNoted = await readFile(noteFile(project)).then(
    () => true,
    () => false,
  );
  if (!isNoted && !(await isSupervisorRunning(own))) return;
  deps.output.note(`taking down ${own.name}, which an earlier run has left`);
  await endOwn(project, deps);
}
