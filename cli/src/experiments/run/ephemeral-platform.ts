import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSeededBugName } from '@shop/kit/seeded-bug-names.ts';
import type { CommandDeps } from '../../command-context.ts';
import { messageOf } from '../../errors.ts';
import { untilAlertsArrive } from '../../pager/alerts-arrive.ts';
import { createPagerClient } from '../../pager/pager-client.ts';
import { connectPlatform } from '../../platform/connection.ts';
import { endPlatform } from '../../platform/end-platform.ts';
import { openProject, type Project } from '../../platform/project.ts';
import { startPlatform } from '../../platform/start-platform.ts';
import { makeStateFolder } from '../../platform/state-folder.ts';
import { isSupervisorRunning } from '../../platform/supervisor-process.ts';
import { isAlive, type ProcessIdentity } from '../../process/process-identity.ts';
import { unless } from '../../shared/unless.ts';
import { pollFor } from '../../shared/wait-until.ts';
import { createGatewayClient } from '../../shop/gateway-client.ts';
import { warmUp } from '../../shop/warm-up.ts';
import type { PlatformNeeds } from '../format/schema.ts';
import { endWhenKilled } from './end-when-killed.ts';

/*
 * A platform of the run's own has a project beside the user's. A reaper takes it down when the command is killed with -9. A
 * note in the user's project says that it is there: what remains of it (the reaper was killed too, or --keep) the next
 * `chaos run` takes down.
 */

/** A quick order met no timeout, so its trace has its shape: the shortest attempt timeout is 1 s. */
const WARM_UP = { customer: 'Warm-up', quickMs: 700, limitMs: 60_000 };

/** A started platform of the run's own, to be given to one of `end` and `keep`. */
export interface EphemeralPlatform {
  readonly project: Project;
  /** Takes it down with its data. */
  end(output: CommandDeps['output']): Promise<void>;
  /** Leaves it running, until the next run. */
  keep(): void;
}

/** The project beside the user's, one for each number; a name has at most 31 characters. */
function ownProject(project: Project, number: number, env: NodeJS.ProcessEnv): Project {
  const suffix = number === 1 ? '-chaos' : `-chaos-${number}`;
  return openProject(`${project.name.slice(0, 31 - suffix.length)}${suffix}`, project.root, env);
}

const notesFolder = (project: Project) => join(project.stateDir, 'chaos', 'ephemeral-platforms');

/** Starts it and resolves when it is ready. When that fails, and when it is interrupted, what was started is taken down. */
export async function startEphemeral(
  project: Project,
  needs: PlatformNeeds,
  deps: CommandDeps,
  number = 1,
): Promise<EphemeralPlatform> {
  const own = ownProject(project, number, deps.env);
  // As a command's project, so that an error which names commands names them for this platform.
  const named = deps.projectFrom({ project: own.name });
  const note = join(notesFolder(project), own.name);
  await makeStateFolder(join(project.stateDir, 'chaos'));
  await mkdir(notesFolder(project), { recursive: true, mode: 0o700 });
  const reaper = await endWhenKilled(own.name, note, deps.env);
  await writeFile(note, JSON.stringify(reaper.identity ?? null), { mode: 0o600 });
  const platform: EphemeralPlatform = {
    project: own,
    async end(output) {
      await endNoted(named, note, { output, env: deps.env });
      reaper.dismiss();
    },
    keep: () => reaper.dismiss(),
  };
  const cleanUps: (() => Promise<void>)[] = [];
  try {
    await startPlatform(
      named,
      [],
      {
        replicas: needs.replicas,
        seedBug: needs['seeded-bugs'].filter(isSeededBugName),
        ...(needs.alerts && { with: ['alerts'] }),
        build: true,
        direct: false,
        // SHOPCTL_PORT is that of the user's platform, and so may 8080 be.
        port: 0,
      },
      {
        output: deps.output,
        env: { ...deps.env, ...needs.env, SHOPCTL_FAILPOINTS: '1' },
        signal: deps.signal,
        // Only while it starts: afterwards the platform ends with the run, not by this.
        onInterrupt: (cleanUp) => void cleanUps.push(cleanUp),
      },
    );
    const { gatewayUrl } = await connectPlatform(own);
    await warmUp(createGatewayClient(gatewayUrl), WARM_UP, deps.signal);
    if (needs.alerts) await untilAlertsArrive(createPagerClient(own), deps.signal);
  } catch (error) {
    // Why it did not start matters more than why it did not end, which its reaper tries again.
    const warn = (problem: unknown) => deps.output.warn(`while taking down ${own.name}: ${messageOf(problem)}`);
    if (deps.signal.aborted) for (const cleanUp of cleanUps.reverse()) await cleanUp().catch(warn);
    await platform.end(deps.output).catch(warn);
    throw error;
  }
  return platform;
}

async function endNoted(named: Project, note: string, deps: Pick<CommandDeps, 'output' | 'env'>): Promise<void> {
  await endPlatform(named, { purge: true }, deps);
  await rm(note, { force: true });
}

/** A reaper stops a platform and removes its data within this time, ms. */
const REAPED_MS = 45_000;

/** Takes down what an earlier run left: one that was killed with its reaper, or had --keep. */
export async function endLeftOver(project: Project, deps: CommandDeps): Promise<void> {
  const folder = notesFolder(project);
  for (const name of await namesIn(folder)) await untilReaped(join(folder, name));
  const noted = await namesIn(folder);
  const first = ownProject(project, 1, deps.env);
  const isForgotten = !noted.includes(first.name) && (await isSupervisorRunning(first));
  for (const name of [...noted, ...(isForgotten ? [first.name] : [])]) {
    deps.output.note(`taking down ${name}, which an earlier run has left`);
    await endNoted(deps.projectFrom({ project: name }), join(folder, name), deps);
  }
}

/** Two that take down one platform could remove what the next one begins. */
async function untilReaped(note: string): Promise<void> {
  const text = await readFile(note, 'utf8').catch(() => '');
  // Killed while it wrote the note: its reaper had nothing to end yet.
  if (text === '' || text === 'null') return;
  const reaper = JSON.parse(text) as ProcessIdentity;
  await pollFor(async () => ((await isAlive(reaper)) ? undefined : true), { limitMs: REAPED_MS, everyMs: 100 });
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(unless('ENOENT'))) ?? [];
}
