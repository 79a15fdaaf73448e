import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { poll } from '../shared/wait-until.ts';
import type { ComponentContext, Launch } from './component.ts';
import { purgeComponents } from './resolve.ts';
import { createSecrets } from './secrets.ts';

/** What tests need in place of a project and its supervisor. */
export interface TestContext extends ComponentContext, AsyncDisposable {}

export interface TestContextOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cacheDir?: string;
  readonly migrationsDir?: string;
}

/** The user's own cache, so that a test run downloads and builds nothing twice. */
export function sharedCacheDir(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'shopctl');
}

/** A context in a separate temporary folder; disposing removes it and what PostgreSQL keeps outside of it. */
export async function aContext(options: TestContextOptions = {}): Promise<TestContext> {
  const folder = await mkdtemp(join(tmpdir(), 'shopctl-test-'));
  const stateDir = join(folder, 'state');
  await mkdir(join(stateDir, 'logs'), { recursive: true, mode: 0o700 });
  const reserved = new Map<string, number[]>();
  return {
    project: 'test',
    stateDir,
    cacheDir: options.cacheDir ?? join(folder, 'cache'),
    migrationsDir: options.migrationsDir ?? join(folder, 'migrations'),
    logFile: (name) => join(stateDir, 'logs', `${name}.log`),
    ports: {
      async reserve(name, count = 1) {
        const ports = reserved.get(name) ?? [];
        while (ports.length < count) ports.push(await freePort());
        reserved.set(name, ports);
        return ports;
      },
    },
    secrets: createSecrets(),
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.env },
    async [Symbol.asyncDispose]() {
      await purgeComponents({ project: 'test', stateDir });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface RunningLaunch extends AsyncDisposable {
  readonly child: ChildProcess;
  /** From spawn to the first successful probe. */
  readonly readyMs: number;
  /** Ends the process by `signal` (default: the launch's own) and cleans up after it. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Carries a launch out as the supervisor does, up to the first successful probe. Sets nothing up. */
export async function startLaunch(
  launch: Launch,
  { deadlineMs = 60_000, logFile = '/dev/null' } = {},
): Promise<RunningLaunch> {
  if (launch.run.type !== 'process') throw new Error(`${launch.component}: not a process`);
  await launch.prepare();
  const { command, args, env, cwd, uid, gid, stopSignal } = launch.run.spec;
  const log = openSync(logFile, 'a');
  const startedAt = performance.now();
  const child = spawn(command, args, { env, cwd, stdio: ['ignore', log, log], ...(uid !== undefined && { uid, gid }) });
  const ended = once(child, 'exit');
  async function stop(signal: NodeJS.Signals = stopSignal) {
    child.kill(signal);
    await ended;
    await launch.cleanUp();
  }
  try {
    await untilReady(launch, child, deadlineMs);
  } catch (error) {
    await stop('SIGKILL');
    throw error;
  }
  const readyMs = performance.now() - startedAt;
  return { child, readyMs, stop, [Symbol.asyncDispose]: () => (isRunning(child) ? stop() : Promise.resolve()) };
}

async function untilReady(launch: Launch, child: ChildProcess, deadlineMs: number): Promise<void> {
  const deadline = AbortSignal.timeout(deadlineMs);
  const probe = async (): Promise<true | undefined> => {
    try {
      await launch.probe(deadline);
      return true;
    } catch (error) {
      if (deadline.aborted || !isRunning(child))
        throw new Error(`${launch.detail}: not ready (exit ${child.exitCode})`, { cause: error });
      return undefined;
    }
  };
  await poll(probe, { everyMs: 5 });
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
