import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../errors.ts';
import { lockHolder } from '../process/project-lock.ts';
import { pollFor } from '../shared/wait-until.ts';
import { tailLines } from './log-tail.ts';
import { requireOwnSocket } from './private-folder.ts';
import type { Project } from './project.ts';
import { makeStateFolder } from './state-folder.ts';

export interface StartSupervisorOptions {
  readonly project: Project;
  readonly env: NodeJS.ProcessEnv;
  /** Program and arguments; default: the built supervisor for this project. */
  readonly command?: readonly [string, ...string[]];
  readonly timeoutMs?: number;
  /** Ends the start: the supervisor is asked to end, and the reason is thrown. */
  readonly signal?: AbortSignal;
}

/**
 * True when a supervisor responds on the project's socket, or is too busy to respond within the limit. A connection alone
 * proves nothing: the kernel still accepts for a process that was killed until the last of its threads has ended. Throws
 * CliError (3) when the socket is another user's.
 */
export async function isSupervisorRunning({ socketPath }: Project, limitMs = 2000): Promise<boolean> {
  await requireOwnSocket(socketPath);
  return new Promise((resolve) => {
    const ping = request({ socketPath, path: '/v1/ping', agent: false, timeout: limitMs });
    ping.once('response', (response) => {
      response.resume();
      resolve(true);
    });
    ping.once('timeout', () => {
      resolve(true);
      ping.destroy();
    });
    // Whatever the reason, no supervisor listens there.
    ping.on('error', () => resolve(false));
    ping.end();
  });
}

/**
 * Each half of V8's young generation, MB. All telemetry outlives two collections on its way through the stores, which V8 takes
 * for a reason to let the young generation grow: to 128 MB with its defaults. The larger it is, the longer also wait the
 * buffers of what was received and read. Figures: docs/benchmarks/2026-11.md.
 */
const SEMI_SPACE_MB = 8;

/** The built supervisor of a project: program and arguments. */
export function supervisorCommand({ root, name }: Pick<Project, 'root' | 'name'>): readonly [string, ...string[]] {
  return [process.execPath, `--max-semi-space-size=${SEMI_SPACE_MB}`, join(root, 'dist/cli/supervisor.cjs'), name];
}

/** Between two looks at one that starts, ms. */
const EVERY_MS = 15;
/** A supervisor that is asked to end before it responds has nothing to stop, ms. */
const END_MS = 5_000;

/**
 * Starts the supervisor in a separate session, where neither Ctrl-C nor a closed terminal reaches it, and resolves when
 * it responds. Throws CliError with the last lines of its log when it does not. The process that it has started is then the
 * project's supervisor, or has ended: one that began later would make the files of a project again that `down` has removed.
 */
export async function startSupervisor(options: StartSupervisorOptions): Promise<void> {
  const { project, env, timeoutMs = 15_000, signal } = options;
  const [program, ...args] = options.command ?? supervisorCommand(project);
  await makeStateFolder(project.logDir);
  const logFile = join(project.logDir, 'supervisor.log');
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(program, args, { cwd: project.root, env, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  child.unref();
  let ended: string | undefined;
  child.once('error', (error) => {
    ended = error.message;
  });
  child.once('exit', (code, signal) => {
    ended = signal ? `signal ${signal}` : `exit code ${code}`;
  });
  const hasEnded = () => ended !== undefined || undefined;
  const giveUp = () => child.kill('SIGTERM');
  const end = async () => {
    giveUp();
    if (!(await pollFor(hasEnded, { everyMs: EVERY_MS, limitMs: END_MS }))) child.kill('SIGKILL');
  };
  signal?.addEventListener('abort', giveUp, { once: true });
  const deadline = performance.now() + timeoutMs;
  // One that ended with 0 found another that was quicker, which will respond soon.
  while (!(await isSupervisorRunning(project))) {
    if (signal?.aborted && ended !== undefined) throw signal.reason;
    if ((ended !== undefined && ended !== 'exit code 0') || performance.now() > deadline) {
      const why = ended ?? `no response in ${timeoutMs / 1000} s`;
      await end();
      throw new CliError({
        code: 'supervisor_not_started',
        what: 'the supervisor did not start',
        why: [why, ...(await tailLines(logFile, 10))].join('\n'),
        next: `its log is ${logFile}; "shopctl doctor" checks the machine`,
      });
    }
    await delay(EVERY_MS);
  }
  // Where another one responds, ours ends as soon as it finds that the project is taken.
  const isOurs = async () => hasEnded() ?? ((await lockHolder(project.lockFile))?.pid === child.pid || undefined);
  if (!(await pollFor(isOurs, { everyMs: EVERY_MS, limitMs: deadline - performance.now() }))) await end();
  signal?.removeEventListener('abort', giveUp);
  signal?.throwIfAborted();
}
