import { Socket } from 'node:net';
import type { Client } from 'pg';
import { parametersOf, type Row, type RowSource, type Scope } from './rows.ts';

/** Limits of the audit's own work on a database, in ms: a frozen server ends the audit, not the other way round. */
const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 30_000;
/** How long a connection may take to say goodbye. */
const CLOSE_TIMEOUT_MS = 300;

/** Rows per round trip. Two batches per table are in memory at a time. */
const BATCH = 4_000;

/** Its rows are arrays. */
interface ArrayStatement {
  readonly text: string;
  readonly rowMode: 'array';
}

/** One database, read in one transaction: all its tables as of one moment. */
export interface Snapshot extends AsyncDisposable {
  /** Statements may be asked for concurrently: they are sent one after another, in the order in which they are asked for. */
  query<Row>(
    statement: string | ArrayStatement,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly Row[] }>;
}

/** Opens a database read-only at one moment. Throws when it does not respond in 5 s. */
export async function openSnapshot(url: string): Promise<Snapshot> {
  const { default: pg } = await import('pg');
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: url,
    application_name: 'shopctl audit',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    stream: () => socket,
  });
  // A connection lost in mid-query also rejects the query; without a listener it would end this process.
  client.on('error', () => undefined);
  const close = () => closeConnection(client, socket);
  try {
    await client.connect();
    return await beginSnapshot(client, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/** A snapshot over a connection, which `close` ends or gives back. */
export async function beginSnapshot(client: Client, close: () => Promise<void>): Promise<Snapshot> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  // The snapshot is taken by the first statement, not by BEGIN.
  await client.query('SELECT 1');
  let last: Promise<unknown> = Promise.resolve();
  return {
    query(statement, values = []) {
      const config = typeof statement === 'string' ? { text: statement } : statement;
      const next = last.then(() => client.query({ ...config, values: [...values] }));
      // The next statement is sent after a failed one, too; the caller of that one gets its error.
      last = next.catch(() => undefined);
      return next;
    },
    [Symbol.asyncDispose]: close,
  };
}

/** A frozen server never responds to the goodbye, so the socket is cut after a short while. */
async function closeConnection(client: Client, socket: Socket): Promise<void> {
  const cut = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS);
  await client.end().catch(() => undefined); // It is gone already, which is what was wanted.
  clearTimeout(cut);
  socket.destroy();
}

/** Rows of one table in order of order id, grouped by it; forward only. */
export interface GroupReader<Fact> {
  /** The id of the next group; undefined at the end. */
  next(): Promise<string | undefined>;
  /** The facts of that id; empty when the next group is another one. */
  take(id: string): Promise<readonly Fact[]>;
}

/** Reads a table through a cursor, the next batch on its way while one is worked on. */
export async function openGroups<Fact>(
  snapshot: Snapshot,
  source: RowSource<Fact>,
  scope: Scope,
): Promise<GroupReader<Fact>> {
  await snapshot.query(`DECLARE ${source.name} NO SCROLL CURSOR FOR ${source.select(scope)}`, parametersOf(scope));
  const fetch = () => quietly(snapshot.query<Row>({ text: `FETCH ${BATCH} FROM ${source.name}`, rowMode: 'array' }));
  let coming = fetch();
  let rows: readonly Row[] = [];
  let position = 0;

  async function peek(): Promise<Row | undefined> {
    if (position < rows.length) return rows[position];
    if (rows.length > 0 && rows.length < BATCH) return undefined;
    rows = (await coming).rows;
    position = 0;
    if (rows.length === BATCH) coming = fetch();
    return rows[0];
  }

  return {
    async next() {
      const row = position < rows.length ? rows[position] : await peek();
      return row === undefined ? undefined : String(row[0]);
    },
    async take(id) {
      const facts: Fact[] = [];
      for (;;) {
        const row = position < rows.length ? rows[position] : await peek();
        if (row === undefined || row[0] !== id) return facts;
        facts.push(source.parse(row));
        position++;
      }
    },
  };
}

/**
 * A batch fetched ahead may fail while no caller waits for it; the caller that awaits it later still gets the error.
 */
function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
