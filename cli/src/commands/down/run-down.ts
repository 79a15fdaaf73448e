import { rm } from 'node:fs/promises';
import type { CommandDeps } from '../../command-context.ts';
import { formatDuration } from '../../output/units.ts';
import { inspectionContext } from '../../platform/component-context.ts';
import { createControlClient, isGone, UnresponsiveSupervisorError } from '../../platform/control-client.ts';
import type { Project } from '../../platform/project.ts';
import { endEarlierRun } from '../../platform/run-supervisor.ts';
import { recoverState } from '../../platform/state.ts';
import { signalSupervisor, waitUntilGone } from '../../platform/supervisor-end.ts';
import { isSupervisorRunning } from '../../platform/supervisor-process.ts';
import type { DownOptions } from './command.ts';

/** Longer than the slowest stop: services drain, then the broker and the database, each with a limit of its own. */
const SUPERVISOR_END_MS = 30_000;

/** `shopctl down`. */
export async function runDown(options: DownOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const began = performance.now();
  const progress = deps.output.progress(`stopping ${project.name}`);
  try {
    const answer = await endSupervisor(project, options, (text) => deps.output.warn(text));
    const wasRunning = answer !== 'gone';
    // Nobody supervises now: whatever carries the marks of an earlier run is a leftover of kill -9.
    const leftovers =
      answer === 'stopped'
        ? 0
        : await endEarlierRun(project, await recoverState(project.stateFile, (text) => deps.output.warn(text)));
    const isPurged = options.volumes === true || options.purge === true;
    if (isPurged) {
      const { purgeComponents } = await import('../../providers/resolve.ts');
      await purgeComponents(inspectionContext(project, deps.env));
      await rm(project.stateDir, { recursive: true, force: true });
    }
    progress.stop();
    const result = {
      project: project.name,
      wasRunning,
      leftovers,
      purged: isPurged,
      tookMs: performance.now() - began,
    };
    deps.output.result(result, () => describe(result));
  } catch (error) {
    progress.fail('not everything was stopped');
    throw error;
  }
}

/** Resolves when no supervisor is left. `gone`: there was none. */
async function endSupervisor(
  project: Project,
  options: DownOptions,
  warn: (text: string) => void,
): Promise<'stopped' | 'ended' | 'signalled' | 'killed' | 'gone'> {
  const answer = (await isSupervisorRunning(project)) ? await askDown(project, options) : await askBySignal(project);
  if (answer === 'signalled') warn('the supervisor does not listen on its socket: ending it by a signal');
  if (answer !== 'silent') {
    try {
      await waitUntilGone(project, SUPERVISOR_END_MS);
      return answer;
    } catch (error) {
      if (answer !== 'signalled') throw error;
    }
  }
  warn('the supervisor did not answer: ending it and all that it ran');
  await signalSupervisor(project, 'SIGKILL');
  await waitUntilGone(project, SUPERVISOR_END_MS);
  return 'killed';
}

/** Its socket is gone (a cleaned folder), or not there yet. */
async function askBySignal(project: Project): Promise<'signalled' | 'gone'> {
  return (await signalSupervisor(project, 'SIGTERM')) ? 'signalled' : 'gone';
}

/** `silent`: it does not answer. `ended`: it was ending by itself, for instance after a start that failed. */
async function askDown(project: Project, { timeout }: DownOptions): Promise<'stopped' | 'silent' | 'ended'> {
  try {
    await createControlClient(project).down(timeout === undefined ? {} : { timeoutMs: timeout * 1000 });
    return 'stopped';
  } catch (error) {
    if (error instanceof UnresponsiveSupervisorError) return 'silent';
    if (isGone(error)) return 'ended';
    throw error;
  }
}

interface DownResult {
  readonly project: string;
  readonly wasRunning: boolean;
  readonly leftovers: number;
  readonly purged: boolean;
  readonly tookMs: number;
}

function describe({ wasRunning, leftovers, purged, tookMs }: DownResult): string {
  const parts = [wasRunning ? `stopped in ${formatDuration(tookMs)}` : 'nothing was running'];
  if (leftovers > 0) parts.push(`ended ${leftovers} processes and containers of a killed run`);
  parts.push(purged ? 'data, secrets and logs removed' : 'data kept ("shopctl down -v" removes it)');
  return parts.join('; ');
}
