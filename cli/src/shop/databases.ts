import { Socket } from 'node:net';
import type { Client } from 'pg';
import { CliError, messageOf } from '../errors.ts';
import type { DatabaseName } from '../topology/databases.ts';

/** Limits of one statement, in ms: a PostgreSQL that is frozen ends in an error within their sum. */
export interface DatabaseLimits {
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

const defaultDatabaseLimits: DatabaseLimits = { connectTimeoutMs: 2_000, statementTimeoutMs: 2_500 };

/** The five databases as the operator sees them: one connection each, made when it is first needed. */
export interface ShopDatabases extends AsyncDisposable {
  /**
   * Runs one statement; statements for one database wait for each other. Throws DatabaseError: exit code 4 when the
   * database did not respond, 1 when it refused. Rejects after the disposal.
   */
  query<Row>(database: DatabaseName, text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** A statement got no response, or a refusal. */
export class DatabaseError extends CliError {
  override readonly name = 'DatabaseError';
  readonly database: DatabaseName;

  constructor(database: DatabaseName, details: ConstructorParameters<typeof CliError>[0]) {
    super(details);
    this.database = database;
  }
}

interface OpenConnection {
  readonly client: Client;
  readonly socket: Socket;
}

/** How long a connection may take to say goodbye, in ms. */
const CLOSE_TIMEOUT_MS = 300;

/** Connects to nothing yet. `urls` hold passwords and appear in no error. */
export function openShopDatabases(
  urls: Readonly<Record<DatabaseName, string>>,
  limits: DatabaseLimits = defaultDatabaseLimits,
): ShopDatabases {
  const connections = new Map<DatabaseName, Promise<OpenConnection>>();
  const queues = new Map<DatabaseName, Promise<unknown>>();
  let isClosed = false;

  function connectionTo(database: DatabaseName): Promise<OpenConnection> {
    // A connection that is made after the disposal would stay open for as long as this process runs.
    if (isClosed) throw new Error('the connections of these databases have been closed');
    const known = connections.get(database) ?? connect(urls[database], limits);
    connections.set(database, known);
    return known;
  }

  async function run<Row>(database: DatabaseName, text: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      const { client } = await connectionTo(database);
      return (await client.query(text, [...values])).rows as Row[];
    } catch (error) {
      // After a lost or unfinished statement the connection cannot be trusted; the next statement makes another.
      void connections.get(database)?.then(close, () => undefined);
      connections.delete(database);
      throw explain(database, error, limits);
    }
  }

  return {
    query<Row>(database: DatabaseName, text: string, values: readonly unknown[] = []) {
      const next = (queues.get(database) ?? Promise.resolve()).then(() => run<Row>(database, text, values));
      // The queue goes on after a failure, which was reported to the caller of that statement.
      queues.set(
        database,
        next.catch(() => undefined),
      );
      return next;
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      const open = await Promise.allSettled(connections.values());
      await Promise.all(open.map((one) => (one.status === 'fulfilled' ? close(one.value) : undefined)));
    },
  };
}

/** Opens the databases of a platform, gives them to `work` and closes them, also when it fails. */
export async function withShopDatabases<Result>(
  { databaseUrls }: { readonly databaseUrls: Readonly<Record<DatabaseName, string>> },
  work: (databases: ShopDatabases) => Promise<Result>,
): Promise<Result> {
  await using databases = openShopDatabases(databaseUrls);
  // Without "await" they would be closed before the work is done.
  return await work(databases);
}

async function connect(url: string, limits: DatabaseLimits): Promise<OpenConnection> {
  const { default: pg } = await import('pg');
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: url,
    application_name: 'shopctl',
    connectionTimeoutMillis: limits.connectTimeoutMs,
    // The server's limit ends a slow statement there; ours ends the wait for a server that does not run.
    statement_timeout: limits.statementTimeoutMs,
    query_timeout: limits.statementTimeoutMs,
    stream: () => socket,
  });
  // A connection lost in mid-query also rejects the query; without a listener it would end this process.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return { client, socket };
}

/** A frozen server never responds to the goodbye, so the socket is cut after a short while. */
async function close({ client, socket }: OpenConnection): Promise<void> {
  const cut = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS);
  await client.end().catch(() => undefined); // It is gone already, which is what was wanted.
  clearTimeout(cut);
  socket.destroy();
}

/** SQLSTATE classes after which another try may work: connection, resources, operator intervention. */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58']);

function explain(database: DatabaseName, error: unknown, limits: DatabaseLimits): DatabaseError {
  const { code } = error as { code?: unknown };
  const isSqlState = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
  if (isSqlState && !UNAVAILABLE_CLASSES.has(code.slice(0, 2))) {
    return new DatabaseError(database, {
      code: 'database_refused',
      what: `the ${database} database refused a statement`,
      why: `${messageOf(error)} (SQLSTATE ${code})`,
      next: 'restart the platform, which completes roles and tables: "shopctl down", then "shopctl up"',
      cause: error,
    });
  }
  return new DatabaseError(database, {
    code: 'database_unreachable',
    what: `the ${database} database does not respond`,
    why: `${messageOf(error)} (limits: ${limits.connectTimeoutMs} ms to connect, ${limits.statementTimeoutMs} ms for a statement)`,
    next: 'see whether PostgreSQL runs with "shopctl status", and what it logged with "shopctl logs postgres"',
    cause: error,
  });
}
