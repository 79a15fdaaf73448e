import { statfs } from 'node:fs/promises';
import { CliError } from '../errors.ts';
import { quoted } from '../providers/postgres/quoted.ts';
import type { DatabaseName } from '../topology/databases.ts';
import type { Administration } from './administration.ts';

/** A file system that a database stores on. */
export interface DatabaseDisk {
  /** `pg_default` is the data directory. */
  readonly tablespace: string;
  readonly path: string;
  readonly freeBytes: number;
  readonly isFull: boolean;
  /** Tables and indexes of this database in it; of the data directory none are listed. */
  readonly objects: readonly string[];
}

/** PostgreSQL extends a table or an index by pages of 8 kB, several at a time. */
const FULL_BELOW_BYTES = 128 * 1024;
/** To move an index, its table must not be written to. */
const LOCK_TIMEOUT = '5s';
const MOVE_LIMIT_MS = 60_000;
const DATA_DIRECTORY = 'pg_default';

const DISKS = `
  SELECT '${DATA_DIRECTORY}' AS tablespace, current_setting('data_directory') AS path, '[]'::json AS objects
  UNION ALL
  (SELECT t.spcname, pg_tablespace_location(t.oid), json_agg(c.relname ORDER BY c.relname)
    FROM pg_tablespace t JOIN pg_class c ON c.reltablespace = t.oid AND c.relkind IN ('r', 'i', 'm')
   WHERE t.spcname <> 'pg_global' GROUP BY t.oid, t.spcname ORDER BY t.spcname)`;

/** Where a database stores, and what is free there. PostgreSQL must run on this machine. */
export async function readDisks(
  database: DatabaseName,
  { query }: Pick<Administration, 'query'>,
): Promise<readonly DatabaseDisk[]> {
  const disks = await query<Omit<DatabaseDisk, 'freeBytes' | 'isFull'>>(database, DISKS);
  return Promise.all(
    disks.map(async (disk) => {
      const { bavail, bsize } = await statfs(disk.path);
      const freeBytes = bavail * bsize;
      return { ...disk, freeBytes, isFull: freeBytes < FULL_BELOW_BYTES };
    }),
  );
}

/**
 * Moves what stores on a full disk into the data directory: nothing is lost, and the next row has a place. Throws
 * CliError (1) where the disk of the data directory is the full one.
 */
export async function moveFromFullDisks(
  database: DatabaseName,
  disks: readonly DatabaseDisk[],
  { query }: Pick<Administration, 'query'>,
): Promise<readonly DatabaseDisk[]> {
  const home = disks.find(({ tablespace }) => tablespace === DATA_DIRECTORY);
  if (home?.isFull) throw dataDirectoryFull(database, home);
  for (const { tablespace } of disks.filter(({ isFull }) => isFull)) {
    const from = quoted(tablespace);
    const moves = ['INDEX', 'TABLE', 'MATERIALIZED VIEW'].map(
      (kind) => `ALTER ${kind} ALL IN TABLESPACE ${from} SET TABLESPACE ${DATA_DIRECTORY}`,
    );
    await query(database, `SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'; ${moves.join('; ')}`, undefined, MOVE_LIMIT_MS);
  }
  const after = await readDisks(database, { query });
  const full = after.filter(({ isFull }) => isFull);
  if (full.length === 0) return after;
  throw new CliError({
    code: 'operation_ineffective',
    what: `${database} still stores on a full disk`,
    why: full.map(({ path, objects }) => `${objects.join(', ') || 'the data directory'} in ${path}`).join('; '),
    next: 'free the disk, then repeat the command',
  });
}

function dataDirectoryFull(database: DatabaseName, { path }: DatabaseDisk): CliError {
  return new CliError({
    code: 'operation_ineffective',
    what: `the disk of PostgreSQL's data directory is full`,
    why: `${database} stores in ${path}, and there is nothing that could be moved elsewhere`,
    next: 'free the disk; PostgreSQL goes on without a restart',
  });
}
