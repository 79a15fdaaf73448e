import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { killTreeScript } from '../../cli/src/process/kill-tree-script.ts';
import type { Launch, ProcessSpec } from '../../cli/src/providers/component.ts';
import { poll } from '../../cli/src/shared/wait-until.ts';

const START_TIMEOUT_MS = 60_000;
const PROBE_INTERVAL_MS = 25;
const PROBE_TIMEOUT_MS = 1_000;

/**
 * Runs the program that follows. When standard input closes, which happens also when this process is killed, it ends the program
 * and all that it has started. A backend of PostgreSQL that waits for another one does not notice that its server was killed.
 * What the tests stored is not needed any more.
 */
const GUARD = `${killTreeScript}
"$@" & child=$!
cat >/dev/null
kill_tree "$child" 2>/dev/null
wait "$child"`;

export interface RunningComponent {
  stop(): Promise<void>;
}

/**
 * Prepares, starts and sets up a component; resolves when it serves. Throws with the end of its log when it does not.
 * `mark` is put into its environment, and so into that of the daemons it leaves (epmd).
 */
export async function startComponent(
  launch: Launch,
  logFile: string,
  mark: Readonly<Record<string, string>> = {},
): Promise<RunningComponent> {
  await launch.prepare();
  const stop = await run(launch, logFile, mark);
  try {
    await untilReady(launch, logFile);
    await launch.setUp();
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

async function run(
  launch: Launch,
  logFile: string,
  mark: Readonly<Record<string, string>>,
): Promise<() => Promise<void>> {
  const { run } = launch;
  if (run.type === 'external') return async () => undefined;
  if (run.type === 'container') {
    await run.start();
    return () => run.stop();
  }
  const guard = await spawnGuarded({ ...run.spec, env: { ...run.spec.env, ...mark } }, logFile);
  return async () => {
    await endGuard(guard);
    await launch.cleanUp();
  };
}

function spawnGuarded(spec: ProcessSpec, logFile: string): Promise<ChildProcess> {
  const log = openSync(logFile, 'a', 0o600);
  const guard = spawn('/bin/sh', ['-c', GUARD, 'guard', spec.command, ...spec.args], {
    cwd: spec.cwd,
    env: { ...spec.env },
    // A separate group: Ctrl-C reaches the tests first, and they end it.
    detached: true,
    stdio: ['pipe', log, log],
    ...(spec.uid !== undefined && { uid: spec.uid }),
    ...(spec.gid !== undefined && { gid: spec.gid }),
  });
  closeSync(log);
  guard.stdin?.on('error', () => undefined); // The guard's end is seen by 'exit'.
  return new Promise((resolve, reject) => guard.once('spawn', () => resolve(guard)).once('error', reject));
}

function endGuard(guard: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (guard.exitCode !== null || guard.signalCode !== null) return resolve();
    guard.once('exit', () => resolve());
    guard.stdin?.end();
  });
}

async function untilReady(launch: Launch, logFile: string): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  const probe = async (): Promise<true | undefined> => {
    try {
      await launch.probe(AbortSignal.timeout(PROBE_TIMEOUT_MS));
      return true;
    } catch (error) {
      if (performance.now() > deadline) {
        const log = await readFile(logFile, 'utf8').catch(() => 'there is no log');
        throw new Error(`${launch.detail}: not ready in ${START_TIMEOUT_MS} ms\n${log.slice(-2_000)}`, {
          cause: error,
        });
      }
      return undefined;
    }
  };
  await poll(probe, { everyMs: PROBE_INTERVAL_MS });
}
