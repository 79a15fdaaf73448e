import type { PlatformConnection } from '../../../cli/src/platform/connection.ts';
import { ownCpuMs, readProcessTable, treeCpuMs } from '../../../cli/src/process/process-table.ts';
import type { ShopDatabases } from '../../../cli/src/shop/databases.ts';
import { databaseNames } from '../../../cli/src/topology/databases.ts';
import { createBackend } from '../../../cli/src/trace/backend.ts';

export interface TableSample {
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
  /** Of the table with its indexes. */
  readonly bytes: number;
  readonly indexBytes: number;
}

/** Everything that an order may add to, at one moment. */
export interface Sample {
  /** ms of a clock that only goes forward. */
  readonly atMs: number;
  /** CPU time so far in ms, by program: a service, a component with all its processes, `telemetry store`. */
  readonly cpuMs: ReadonlyMap<string, number>;
  /** By `database.table`. */
  readonly tables: ReadonlyMap<string, TableSample>;
  /** Committed transactions by database. */
  readonly commits: ReadonlyMap<string, number>;
  readonly walBytes: number;
  /** Sums of the counters of that name over all processes. */
  readonly spans: number;
  readonly deliveries: number;
}

/**
 * Reads everything concurrently. Linux only: elsewhere the processes of PostgreSQL and RabbitMQ cannot be
 * distinguished.
 */
export async function takeSample(platform: PlatformConnection, databases: ShopDatabases): Promise<Sample> {
  const backend = createBackend(platform.telemetryUrl);
  const [cpuMs, data, points] = await Promise.all([
    readCpu(platform),
    Promise.all(databaseNames.map((name) => readDatabase(databases, name))),
    backend.metrics(['shop.telemetry.spans', 'shop.shipping.messages']),
  ]);
  const [wal] = await databases.query<{ bytes: string }>('orders', "SELECT pg_current_wal_lsn() - '0/0' AS bytes");
  const sum = (metric: string, key: string, value: string) =>
    points
      .filter(({ name, attributes }) => name === metric && attributes[key] === value)
      .reduce((total, point) => total + ('value' in point ? point.value : 0), 0);
  return {
    atMs: performance.now(),
    cpuMs,
    tables: new Map(data.flatMap(({ tables }) => [...tables])),
    commits: new Map(data.map(({ name, commits }) => [name, commits])),
    walBytes: Number(wal?.bytes),
    spans: sum('shop.telemetry.spans', 'state', 'exported'),
    deliveries: sum('shop.shipping.messages', 'outcome', 'shipped'),
  };
}

async function readCpu({ state }: PlatformConnection): Promise<ReadonlyMap<string, number>> {
  const table = await readProcessTable();
  const used = state.instances.flatMap(({ service, process }): [string, number][] =>
    process === undefined ? [] : [[service, treeCpuMs(table, process) ?? 0]],
  );
  // The supervisor's children are the instances themselves, so it is counted alone.
  return new Map([...used, ['telemetry store', ownCpuMs(table, state.supervisor) ?? 0]]);
}

interface TableRow {
  table: string;
  inserted: string;
  updated: string;
  deleted: string;
  bytes: string;
  index_bytes: string;
}

async function readDatabase(databases: ShopDatabases, name: (typeof databaseNames)[number]) {
  const rows = await databases.query<TableRow>(
    name,
    `SELECT relname AS table, n_tup_ins AS inserted, n_tup_upd AS updated, n_tup_del AS deleted,
            pg_total_relation_size(relid) AS bytes, pg_indexes_size(relid) AS index_bytes
       FROM pg_stat_user_tables WHERE schemaname = 'public'`,
  );
  const [database] = await databases.query<{ commits: string }>(
    name,
    'SELECT xact_commit AS commits FROM pg_stat_database WHERE datname = current_database()',
  );
  const tables = rows.map((row): [string, TableSample] => [
    `${name}.${row.table}`,
    {
      inserted: Number(row.inserted),
      updated: Number(row.updated),
      deleted: Number(row.deleted),
      bytes: Number(row.bytes),
      indexBytes: Number(row.index_bytes),
    },
  ]);
  return { name, tables, commits: Number(database?.commits) };
}
