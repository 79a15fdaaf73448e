import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSeededBugName } from '@shop/kit/seeded-bugs.ts';
import type { CommandDeps } from '../../command-context.ts';
import { runDown } from '../../commands/down/run-down.ts';
import { runUp } from '../../commands/up/run-up.ts';
import type { Output } from '../../output/output.ts';
import { openProject, type Project } from '../../platform/project.ts';
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
    await runUp(
      [],
      {
        project: own.name,
        replicas: needs.replicas,
        seedBug: needs['seeded-bugs'].filter(isSeededBugName),
        build: true,
        direct: false,
      },
      {
        ...deps,
        env,
        output: quiet(deps.output),
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
  await runDown({ project: own.name, volumes: true }, { ...deps, output: quiet(deps.output) });
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

/** Other commands' results are not this one's; what they tell while they work is. */
function quiet(output: Output): Output {
  return {
    mode: output.mode,
    style: output.style,
    columns: output.columns,
    note: (text) => output.note(text),
    warn: (text) => output.warn(text),
    error: (error) => output.error(error),
    progress: (text) => output.progress(text),
    result: () => undefined,
    record: () => undefined,
  };
}
