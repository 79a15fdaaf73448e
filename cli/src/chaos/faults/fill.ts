import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import { Type } from 'typebox';
import { CliError, messageOf } from '../../errors.ts';
import {
  fillDisk,
  mountObstacle,
  mountQuotaFilesystem,
  mountsBelow,
  unmountQuotaFilesystem,
} from '../../process/quota-filesystem.ts';
import { quoted } from '../../providers/postgres/quoted.ts';
import { waitUntil } from '../../shared/wait-until.ts';
import type { DatabaseName } from '../../topology/databases.ts';
import { databaseOf, hasServer, waitsForStart } from '../database-faults.ts';
import { defineFault } from '../fault.ts';
import { instancesOf, recordVictims } from '../instances.ts';
import type { PlatformAccess } from '../platform-access.ts';
import { toWitness } from './toxic-fault.ts';

/** Where a service adds rows, and when a row was made. */
interface NewRows {
  readonly table: string;
  readonly madeAt: string;
}

/** The catalog adds none. */
const filledTables: Partial<Readonly<Record<DatabaseName, NewRows>>> = {
  orders: { table: 'orders', madeAt: 'created_at' },
  stock: { table: 'reservations', madeAt: 'created_at' },
  payments: { table: 'payments', madeAt: 'created_at' },
  shipping: { table: 'Shipments', madeAt: 'CreatedAt' },
};

interface Filled extends NewRows {
  readonly database: DatabaseName;
  /** Name of tablespace and index. */
  readonly name: string;
  /** Where the small file system is mounted. */
  readonly path: string;
}

const BACK_LIMIT_MS = 3_000;
/** What the next row needs. */
const PAGE_BYTES = 8_192;
/** The server writes all that it holds before a tablespace is dropped. */
const UNDO_LIMIT_MS = 60_000;
const LOCK_TIMEOUT = '5s';

/**
 * A full disk without any data on it. An index of the rows to come is put onto a file system of 1 MB, which is filled
 * to the last block. PostgreSQL must extend the index for the next row and cannot. Rows that exist are not in the
 * index, so they can be read and changed. WAL and tables stay where they are: with the file system only an index is
 * lost.
 */
export const fill = defineFault<ReturnType<typeof Type.Object>, Filled>({
  name: 'fill',
  kind: 'database',
  scope: 'database',
  title: "the disk for the service's new rows is full: inserts are refused (53100), reads and changes go on",
  parameters: Type.Object({}, { additionalProperties: false }),
  defaults: { parameters: {} },
  needsPlatform: true,
  undoLimitMs: UNDO_LIMIT_MS,
  async hostObstacle() {
    const obstacle = await mountObstacle();
    return obstacle === undefined ? undefined : cannotMount(obstacle);
  },
  check: ({ target }) => void filledIn(databaseOf(target)),
  async prepare({ id, target }, platform) {
    const database = databaseOf(target);
    const filled = filledIn(database);
    recordVictims('postgres', platform);
    if (instancesOf('postgres', platform).some(({ provider }) => provider === 'docker'))
      throw cannotMount('PostgreSQL runs in a container, whose files are not this machine’s');
    const obstacle = await mountObstacle();
    if (obstacle !== undefined) throw cannotMount(obstacle);
    const [row] = await platform.query<{ folder: string }>(
      database,
      `SELECT current_setting('data_directory') AS folder`,
    );
    // Beside the data, where PostgreSQL's user can reach it.
    return {
      database,
      ...filled,
      name: `shopctl_full_${id}`,
      path: join(row?.folder as string, '..', `full-disk-${id}`),
    };
  },
  inject: ({ id }, { database, table, madeAt, name, path }, platform) =>
    inSession(id, database, platform, async (client) => {
      // What is not on disk yet would be written when the tablespace is dropped, and make the undo slow.
      await client.query('CHECKPOINT');
      const folder = await textOf(client, `current_setting('data_directory')`);
      await mountQuotaFilesystem(path, await stat(folder)).catch((error: unknown) => {
        throw cannotMount(messageOf(error));
      });
      await client.query(`CREATE TABLESPACE ${name} LOCATION ${client.escapeLiteral(path)}`);
      // A row that came before the disk is full would give the index a page, which has room for hundreds more.
      await client.query('BEGIN');
      await client.query(`LOCK TABLE ${quoted(table)} IN SHARE MODE`);
      const now = await textOf(client, 'clock_timestamp()');
      await client.query(
        `CREATE INDEX ${name} ON ${quoted(table)} (${quoted(madeAt)}) TABLESPACE ${name} WHERE ${quoted(madeAt)} >= '${now}'::timestamptz`,
      );
      await fillDisk(path);
      await client.query('COMMIT');
    }),
  async witness(_, filled, platform) {
    const isThere = await isOnDisk(filled, platform);
    const free = await freeBytes(filled);
    return toWitness(
      isThere && free < PAGE_BYTES,
      `the file system for new rows of ${filled.table} has ${free} bytes left, ${isThere ? 'less than the page that the next row needs' : 'and no index on it'}`,
    );
  },
  isInPlace: async (filled, platform) => (await isOnDisk(filled, platform)) && (await freeBytes(filled)) < PAGE_BYTES,
  async undo({ database, name, path }, platform) {
    if (!hasServer(platform)) throw waitsForStart('the full disk has an index, which PostgreSQL removes');
    await inSession(name, database, platform, async (client) => {
      await client.query(`DROP INDEX IF EXISTS ${name}`);
      await client.query(`DROP TABLESPACE IF EXISTS ${name}`);
    });
    await unmountQuotaFilesystem(path);
  },
  verify: (filled, platform) =>
    waitUntil('the full disk to be gone', BACK_LIMIT_MS, async () => {
      if (await hasIndex(filled, platform)) return undefined;
      if ((await mountsBelow(filled.path)).length > 0) return undefined;
      return `new rows of ${filled.table} need nothing of the full file system any more, which is unmounted`;
    }),
});

/** Throws CliError (2) for a database to which nothing is added. */
function filledIn(database: DatabaseName): NewRows {
  const filled = filledTables[database];
  if (filled !== undefined) return filled;
  throw new CliError({
    code: 'unknown_fault_target',
    what: `${database} adds no rows that a full disk could refuse`,
    next: `databases that do: ${Object.keys(filledTables)
      .map((name) => `${name}-db`)
      .join(', ')}`,
  });
}

async function textOf(client: Client, expression: string): Promise<string> {
  const { rows } = await client.query<{ text: string }>(`SELECT (${expression})::text AS text`);
  return rows[0]?.text as string;
}

/** Statements that take longer than a probe: on their own connection, which is closed also when they fail. */
async function inSession(
  id: string,
  database: DatabaseName,
  platform: PlatformAccess,
  work: (client: Client) => Promise<void>,
) {
  const client = await platform.sessions.open(id, await platform.superuserDatabaseUrl(database), platform.clientName);
  try {
    await client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`);
    await work(client);
  } finally {
    await platform.sessions.close(id);
  }
}

/** What is left where it is mounted; of the disk beneath where it is not any more. */
async function freeBytes({ path }: Filled): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

async function hasIndex({ database, name }: Filled, platform: PlatformAccess): Promise<boolean> {
  const rows = await platform.query(database, 'SELECT 1 FROM pg_class WHERE relname = $1', [name]);
  return rows.length > 0;
}

/** An operator may have moved it to another disk. */
async function isOnDisk({ database, name }: Filled, platform: PlatformAccess): Promise<boolean> {
  const rows = await platform.query(
    database,
    'SELECT 1 FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE c.relname = $1 AND t.spcname = $1',
    [name],
  );
  return rows.length > 0;
}

function cannotMount(why: string): CliError {
  return new CliError({
    code: 'fault_unavailable',
    what: 'the fill fault is not available here',
    why,
    next: 'run the platform as root on Linux (in a container or a virtual machine), or use read-only, which refuses writes too',
  });
}
