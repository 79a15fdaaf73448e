import { setTimeout as delay } from 'node:timers/promises';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import { messageOf } from '../errors.ts';
import type { PlatformConnection } from '../platform/connection.ts';
import type { PlatformState } from '../platform/state.ts';
import { identifyProcess, type ProcessIdentity } from '../process/process-identity.ts';
import { ownResidentBytes } from '../process/process-stats.ts';
import { readProcessTable } from '../process/process-table.ts';
import type { ShopDatabases } from '../shop/databases.ts';
import { type Backlog, readBacklog } from './outbox.ts';
import type { RecordReader } from './records.ts';
import { UsageMeter, type Watched } from './usage.ts';

const EVERY_MS = 1_000;

export interface ObserverOptions {
  readonly connection: Pick<PlatformConnection, 'control'>;
  readonly databases: ShopDatabases;
  readonly reader: RecordReader;
  /** Of k6 itself. */
  readonly k6: ProcessIdentity;
  /** Called with what came since the last time. */
  readonly onLook: (look: Look) => void;
}

export interface Look {
  readonly records: readonly OrderRecord[];
  readonly pending: number | undefined;
  readonly machinePercent: number | undefined;
}

/** Looks at everything once a second while a load goes on. */
export interface Observer {
  readonly records: readonly OrderRecord[];
  readonly usage: UsageMeter;
  /** One look a second, where it was possible. */
  readonly backlogs: readonly Backlog[];
  /** Parts that could not be read, each once. */
  gaps(): readonly string[];
  /** Resolves after a last look. */
  stop(): Promise<void>;
}

export function startObserver({ connection, databases, reader, k6, onLook }: ObserverOptions): Observer {
  const over = new AbortController();
  const records: OrderRecord[] = [];
  const usage = new UsageMeter();
  const gaps = new Set<string>();
  const backlogs: Backlog[] = [];
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      gaps.add(`${what}: ${messageOf(error)}`);
      return undefined;
    }
  };
  const look = async () => {
    const [fresh, backlog] = await Promise.all([
      reader.read(),
      attempt('the outbox', () => readBacklog(databases)),
      attempt('CPU', () => readUsage(connection, k6, usage)),
    ]);
    records.push(...fresh);
    if (backlog !== undefined) backlogs.push(backlog);
    onLook({ records: fresh, pending: backlog?.pending, machinePercent: usage.latestMachinePercent() });
  };
  const run = async () => {
    while (!over.signal.aborted) {
      const due = performance.now() + EVERY_MS;
      await look();
      // Stopped: the loop ends after its last look.
      await delay(Math.max(0, due - performance.now()), undefined, { signal: over.signal }).catch(() => undefined);
    }
    await look();
  };
  const done = run();
  // Looked at when it is stopped; until then a failure of ours must not end the process.
  done.catch(() => undefined);
  return {
    records,
    usage,
    backlogs,
    gaps: () => [...gaps],
    async stop() {
      over.abort();
      await done;
    },
  };
}

/** Elsewhere than on Linux there is no cheap look at a tree of processes. */
async function readUsage(
  { control }: ObserverOptions['connection'],
  k6: ProcessIdentity,
  usage: UsageMeter,
): Promise<void> {
  if (process.platform !== 'linux') throw new Error('measured on Linux only');
  const [state, table] = await Promise.all([control.state(), readProcessTable()]);
  usage.add(performance.now(), table, await watched(state, k6));
}

async function watched({ instances, supervisor }: PlatformState, k6: ProcessIdentity): Promise<readonly Watched[]> {
  const own = await identifyProcess(process.pid);
  return [
    // What is not ours has no process here; a service without one is missed.
    ...instances
      .filter(({ kind, process: running }) => kind === 'service' || running !== undefined)
      .map(({ name, process: running, rssBytes }) => ({ name, process: running, rssBytes })),
    { name: 'k6', process: k6 },
    // Receives the telemetry; what it started has other names.
    { name: 'supervisor', process: supervisor, isAlone: true, rssBytes: await ownResidentBytes(supervisor.pid) },
    ...(own === undefined ? [] : [{ name: 'shopctl', process: own, isAlone: true }]),
  ];
}
