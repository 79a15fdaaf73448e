import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { identifyProcess, type ProcessIdentity } from './process-identity.ts';
import { killTree } from './process-tree.ts';
import type { Running } from './running.ts';
import { signalGroup, signalProcess } from './signal.ts';

/** A child process in a separate session, its output appended to a file. */
export interface SpawnOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  readonly logFile: string;
  /** Descriptors of ours that it inherits, as 3 and those that follow. */
  readonly inherits?: readonly number[];
  /** Gives it a pipe as standard input, which closes when we are gone (EXIT_WITH_PARENT). */
  readonly exitsWithParent: boolean;
  readonly stopSignal: NodeJS.Signals;
  /** How long the signal may take before SIGKILL, ms. */
  readonly stopTimeoutMs: number;
  /** Called as soon as the process exists, and when it has ended: the reaper must know it. A throw ends the process. */
  readonly onStart: (identity: ProcessIdentity, stopSignal: NodeJS.Signals) => void;
  readonly onEnd: (identity: ProcessIdentity) => void;
}

/** Starts the process. Rejects when it cannot be executed at all. */
export async function spawnProcess(options: SpawnOptions): Promise<Running> {
  const log = openSync(options.logFile, 'a', 0o600);
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: [options.exitsWithParent ? 'pipe' : 'ignore', log, log, ...(options.inherits ?? [])],
    ...(options.uid !== undefined && { uid: options.uid }),
    ...(options.gid !== undefined && { gid: options.gid }),
  });
  closeSync(log);
  // A child that ends while we hold its pipe makes EPIPE; its end is seen by 'exit'.
  child.stdin?.on('error', () => {});
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  const pid = child.pid as number;
  // A process that ends before it is seen in /proc still gives a Running, whose end has the exit code.
  const identity = (await identifyProcess(pid)) ?? { pid, startTime: 'ended' };
  try {
    options.onStart(identity, options.stopSignal);
  } catch (error) {
    // Unknown to the reaper it could outlive us. A caller that reads the error may rely on its end.
    signalGroup(pid, 'SIGKILL');
    await ended;
    throw error;
  }
  const endedAndCleaned = ended.then((how) => {
    // What it forked within its group must not outlive it.
    signalGroup(pid, 'SIGKILL');
    options.onEnd(identity);
    return how;
  });
  return {
    process: identity,
    ended: endedAndCleaned,
    stop: (timeoutMs = options.stopTimeoutMs, signal = options.stopSignal) =>
      stopProcess(identity, endedAndCleaned, signal, timeoutMs),
  };
}

async function stopProcess(
  identity: ProcessIdentity,
  ended: Promise<string>,
  signal: NodeJS.Signals,
  timeoutMs: number,
): Promise<void> {
  signalProcess(identity.pid, signal);
  // A paused process (SIGSTOP, a chaos fault) must wake up to see the signal.
  signalProcess(identity.pid, 'SIGCONT');
  const limit = new AbortController();
  const inTime = await Promise.race([
    ended.then(() => true),
    delay(timeoutMs, false, { signal: limit.signal }).catch(() => false),
  ]);
  limit.abort();
  if (!inTime) {
    await killTree(identity);
    // Also one that could not be identified: until its end is reported, its pid is its own.
    signalGroup(identity.pid, 'SIGKILL');
  }
  await ended;
}
