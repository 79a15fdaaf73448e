import { rm } from 'node:fs/promises';
import type { Output } from '../output/output.ts';
import { askedFrom } from './change-log.ts';
import { inspectionContext } from './component-context.ts';
import { createControlClient, isGone, UnresponsiveSupervisorError } from './control-client.ts';
import type { Project } from './project.ts';
import { endEarlierRun } from './run-supervisor.ts';
import { recoverState } from './state.ts';
import { signalSupervisor, waitUntilGone } from './supervisor-end.ts';
import { isSupervisorRunning } from './supervisor-process.ts';

/** Longer than the slowest stop: services drain, then the broker and the database, each with its limit. */
const SUPERVISOR_END_MS = 30_000;

export interface EndOptions {
  /** Removes data, secrets and logs. */
  readonly purge: boolean;
  /** Seconds. */
  readonly timeout?: number | undefined;
  /** Why, for the change log. */
  readonly reason?: string | undefined;
}

/** How a platform ended. */
export interface EndedPlatform {
  readonly project: string;
  readonly wasRunning: boolean;
  /** Processes and containers of a killed run that were ended. */
  readonly leftovers: number;
  readonly purged: boolean;
  readonly tookMs: number;
}

/** Stops the platform of a project, also what a killed supervisor left, and resolves when nothing of it runs. */
export async function endPlatform(
  project: Project,
  options: EndOptions,
  { output, env }: { output: Output; env: NodeJS.ProcessEnv },
): Promise<EndedPlatform> {
  const began = performance.now();
  const progress = output.progress(`stopping ${project.name}`);
  const warn = (text: string) => output.warn(text);
  try {
    const response = await endSupervisor(project, options, warn);
    // No supervisor runs now: whatever carries the marks of an earlier run is a leftover of kill -9.
    const leftovers =
      response === 'stopped' ? 0 : await endEarlierRun(project, await recoverState(project.stateFile, warn));
    if (options.purge) {
      const { purgeComponents } = await import('../providers/resolve.ts');
      await purgeComponents(inspectionContext(project, env));
      await rm(project.stateDir, { recursive: true, force: true });
    }
    progress.stop();
    return {
      project: project.name,
      wasRunning: response !== 'gone',
      leftovers,
      purged: options.purge,
      tookMs: performance.now() - began,
    };
  } catch (error) {
    progress.fail('not everything was stopped');
    throw error;
  }
}

/** Resolves when no supervisor is left. `gone`: there was none. */
async function endSupervisor(
  project: Project,
  options: EndOptions,
  warn: (text: string) => void,
): Promise<'stopped' | 'ended' | 'signalled' | 'killed' | 'gone'> {
  const response = (await isSupervisorRunning(project)) ? await askDown(project, options) : await askBySignal(project);
  if (response === 'signalled') warn('the supervisor does not listen on its socket: ending it by a signal');
  if (response !== 'silent') {
    try {
      await waitUntilGone(project, SUPERVISOR_END_MS);
      return response;
    } catch (error) {
      if (response !== 'signalled') throw error;
    }
  }
  warn('the supervisor did not respond: ending it and all that it ran');
  await signalSupervisor(project, 'SIGKILL');
  await waitUntilGone(project, SUPERVISOR_END_MS);
  return 'killed';
}

/** Its socket is gone (a cleaned folder), or not there yet. */
async function askBySignal(project: Project): Promise<'signalled' | 'gone'> {
  return (await signalSupervisor(project, 'SIGTERM')) ? 'signalled' : 'gone';
}

/** `silent`: it does not respond. `ended`: it was ending without a request, for instance after a start that failed. */
async function askDown(project: Project, { timeout, reason }: EndOptions): Promise<'stopped' | 'silent' | 'ended'> {
  try {
    await createControlClient(project).down({
      ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
      asked: askedFrom('command line', reason),
    });
    return 'stopped';
  } catch (error) {
    if (error instanceof UnresponsiveSupervisorError) return 'silent';
    if (isGone(error)) return 'ended';
    throw error;
  }
}
