import type { SeededBugName } from '@shop/kit/seeded-bug-names.ts';
import type { PlatformConnection } from '../platform/connection.ts';
import { type QueueDepth, rabbitmqQueues } from '../providers/rabbitmq/queues.ts';
import { openShopDatabases, type ShopDatabases } from '../shop/databases.ts';
import type { DatabaseName } from '../topology/databases.ts';
import { createBackend, type MetricSource } from '../trace/backend.ts';
import type { CleanFacts } from './invariants/clean.ts';
import { readClean } from './read-clean.ts';
import type { Snapshot } from './snapshot.ts';

/** What is audited. Each part may fail alone, which makes what rests on it unknown. */
export interface AuditTarget extends AsyncDisposable {
  /** URLs of a role that reads all; they hold passwords. */
  readonly databaseUrls: Readonly<Record<DatabaseName, string>>;
  /** Opens a database by its URL, at one moment; default: over a new connection. */
  readonly openSnapshot?: (url: string) => Promise<Snapshot>;
  /** For single statements outside of a snapshot. */
  readonly databases: ShopDatabases;
  /** Rejects when the broker cannot be asked. */
  queues(): Promise<readonly QueueDepth[]>;
  readonly telemetry: MetricSource;
  /** Since when telemetry is received, ms since 1970. */
  readonly startedAt: number;
  /** Instances of the services that are meant to run: `orders-1`. */
  readonly instances: readonly string[];
  /** Known bugs that were put back into its services. */
  readonly seededBugs: readonly SeededBugName[];
  /** Connections of each instance to its database where the platform was started with its own number of them. */
  readonly databasePoolSize?: number | undefined;
  /** What faults have left; undefined where no supervisor looks after what is audited. */
  readonly clean?: () => Promise<CleanFacts>;
  /** How often each instance crashed and was started again. */
  readonly crashes: Readonly<Record<string, number>>;
}

/** The running platform as the audit reads it. Dispose it to close its database connections. */
export function openTarget(connection: PlatformConnection): AuditTarget {
  const { state } = connection;
  const databases = openShopDatabases(connection.databaseUrls);
  return {
    databaseUrls: connection.databaseUrls,
    databases,
    async queues() {
      const broker = state.instances.find(({ name }) => name === 'rabbitmq');
      if (broker?.provider === undefined) throw new Error('the broker is not running');
      return rabbitmqQueues({
        kind: broker.provider as Parameters<typeof rabbitmqQueues>[0]['kind'],
        info: broker.info ?? {},
      });
    },
    telemetry: createBackend(connection.telemetryUrl),
    startedAt: Date.parse(state.startedAt),
    instances: state.instances.filter(({ kind }) => kind === 'service').map(({ name }) => name),
    seededBugs: state.seededBugs ?? [],
    databasePoolSize: state.databasePoolSize,
    clean: () => readClean(connection),
    crashes: Object.fromEntries(state.instances.map(({ name, restarts, crashes = restarts }) => [name, crashes])),
    [Symbol.asyncDispose]: () => databases[Symbol.asyncDispose](),
  };
}
