import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createPortAllocator } from '../../cli/src/platform/ports.ts';
import type { ComponentContext, Launch } from '../../cli/src/providers/component.ts';
import { resolveComponent } from '../../cli/src/providers/resolve.ts';
import { createSecrets } from '../../cli/src/providers/secrets.ts';
import { poll } from '../../cli/src/shared/wait-until.ts';
import { guardMark, guardProcess } from '../support/guard.ts';

const START_LIMIT_MS = 60_000;
const PROBE_INTERVAL_MS = 10;
const STOP_LIMIT_MS = 15_000;

/** RabbitMQ by the start script it is delivered with, alone on the machine, with a separate data directory. */
export interface StockBroker {
  readonly detail: string;
  /** Starts it and resolves with the ms until it greets (AMQP connection.start); it is stopped again by then. */
  measure(): Promise<number>;
}

/**
 * Finds the broker `shopctl up` would use. `folder` is a guarded one. Throws when there is none, or when it is not one we start
 * ourselves.
 */
export async function findStockBroker(folder: string, cacheDir: string): Promise<StockBroker> {
  const stateDir = join(folder, 'stock-broker');
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const ports = createPortAllocator({});
  const context: ComponentContext = {
    project: 'stock-broker',
    stateDir,
    cacheDir,
    migrationsDir: '',
    logFile: (name) => join(stateDir, `${name}.log`),
    ports: {
      reserve: (name, count = 1) =>
        Promise.all(Array.from({ length: count }, (_, index) => ports.reserve(`${name}:${index}`))),
    },
    secrets: createSecrets(),
    env: { ...process.env, SHOPCTL_RABBITMQ_START: 'script' },
  };
  const launch = await resolveComponent('rabbitmq', context);
  // Its version and how it starts; its path on this machine is not reported.
  const detail = launch.detail.replace(/ from .* by /, ' by ');
  return { detail, measure: () => measure(launch, folder, context.logFile('rabbitmq')) };
}

async function measure(launch: Launch, folder: string, logFile: string): Promise<number> {
  if (launch.run.type !== 'process') throw new Error(`${launch.detail}: not a broker that is started by its script`);
  const { spec } = launch.run;
  await launch.prepare();
  const log = openSync(logFile, 'a', 0o600);
  const began = performance.now();
  const child = spawn(spec.command, [...spec.args], {
    cwd: spec.cwd,
    // The script starts a port mapper, which leaves its group.
    env: { ...spec.env, ...guardMark(folder) },
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  using _ = guardProcess(folder, 'stock-broker', child);
  const ended = once(child, 'exit');
  try {
    await untilGreeted(launch, logFile);
    return performance.now() - began;
  } finally {
    child.kill(spec.stopSignal);
    const limit = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), STOP_LIMIT_MS);
    await ended;
    clearTimeout(limit);
    await launch.cleanUp();
  }
}

async function untilGreeted(launch: Launch, logFile: string): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  const probe = async (): Promise<true | undefined> => {
    try {
      await launch.probe(AbortSignal.timeout(1_000));
      return true;
    } catch (cause) {
      if (performance.now() > deadline) throw new Error(`the broker did not greet, see ${logFile}`, { cause });
      return undefined;
    }
  };
  await poll(probe, { everyMs: PROBE_INTERVAL_MS });
}
