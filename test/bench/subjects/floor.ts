import { SUPERUSER } from '../../../cli/src/providers/postgres/cluster.ts';
import type { Secrets } from '../../../cli/src/providers/secrets.ts';
import { type PlatformOptions, startPlatform } from '../../support/platform.ts';
import type { Shot } from '../measure/cases.ts';
import type { LoopResult } from '../measure/closed-loop.ts';
import { cpuBetween, readCpu } from '../measure/cpu.ts';
import { startWorker, type Worker } from '../measure/worker.ts';
import type { DatabaseUrls } from './databases.ts';
import type { Load } from './load-worker.ts';
import { serviceUrls } from './shop.ts';

/** Statements of one confirmed order (docs/traces.md). */
const STATEMENTS = 16;

/** Five databases with the shop's schema on a separate server, without the services that would work on them. */
export interface Databases extends AsyncDisposable {
  readonly urls: DatabaseUrls;
  /** URL, as superuser, of a further database that a client may make; holds a password. */
  readonly systemUrl: string;
  /** Process id of the server. */
  readonly pid: number;
}

export async function openServer(project: string): Promise<Databases> {
  // The catalog is the smallest service that needs PostgreSQL; it stays idle.
  const options: PlatformOptions = { project, services: ['catalog'], direct: true };
  const platform = await startPlatform(options);
  const { process, address } = await platform.instance('postgres');
  if (process === undefined || address === undefined)
    throw new Error('PostgreSQL is not a process of the platform: its CPU cannot be read');
  const { superuser } = (JSON.parse(await platform.secrets()) as Secrets).postgres;
  return {
    urls: await serviceUrls(platform),
    systemUrl: `postgres://${SUPERUSER}:${encodeURIComponent(superuser)}@${address.host}:${address.port}/bench_system`,
    pid: process.pid,
    [Symbol.asyncDispose]: () => platform.stop(),
  };
}

export interface Floor extends AsyncDisposable {
  shoot(load: Omit<Load, 'origin'>): Promise<Shot>;
}

/** Throws when an order's SQL is not what the trace contract says. */
export async function openFloor(databases: Databases): Promise<Floor> {
  const worker = startWorker(new URL('./floor-worker.ts', import.meta.url));
  await worker.call('open', databases.urls);
  const count = await worker.call<number>('count');
  if (count !== STATEMENTS) throw new Error(`the floor runs ${count} statements an order, the shop ${STATEMENTS}`);
  return workerFloor(worker, { postgres: databases.pid });
}

/** Shots of a worker, with its CPU time and that of `others` (pids by name). */
export function workerFloor(worker: Worker, others: Readonly<Record<string, number>>): Floor {
  const cpu = () => readCpu({ node: worker.pid, ...others });
  return {
    async shoot(load) {
      const before = await cpu();
      const result = await worker.call<LoopResult>('run', load);
      return { ...result, cpuMs: cpuBetween(before, await cpu()) };
    },
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  };
}
