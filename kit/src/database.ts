import type { Context } from '@opentelemetry/api';
import pg from 'pg';
import { databaseLimits } from './edges.ts';
import { ReplyDroppedError } from './failpoints.ts';
import { DatabaseUnavailableError, messageOf } from './failures.ts';
import { type EdgeUpstreams, fixedUpstreams, urlAt } from './live-upstreams.ts';
import type { Logger } from './logger.ts';
import { Sequence } from './sequence.ts';
import { type ObservedPool, observePool } from './spans/pool.ts';
import { createQuerySpans, type QuerySpans } from './spans/queries.ts';
import { uninstrumented, untraced } from './tracing.ts';

/** PostgreSQL cuts longer identifiers, which would make two statements one. */
const MAX_NAME_LENGTH = 63;

/** A prepared statement. Its name is `"<db.query.summary>: <purpose>"`; its span is named by the part before the colon. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Declares a statement. Throws RangeError when the name is too long to be a prepared statement's. */
export function sql(name: string, text: string): Statement {
  if (name.length > MAX_NAME_LENGTH) {
    throw new RangeError(`statement name "${name}" is longer than ${MAX_NAME_LENGTH} characters`);
  }
  return { name, text };
}

export interface Result<Row> {
  readonly rows: readonly Row[];
  /** Rows that the statement changed or returned. */
  readonly count: number;
}

/** Where statements run: a connection of the pool each, or one after another on the one of a transaction. */
export interface Queryable {
  /**
   * Throws DatabaseUnavailableError when the database is unavailable, slow past its limit, or full; DatabaseError otherwise.
   * `causes`: a statement that serves several requests has a span in each of their traces, not in the active one.
   */
  query<Row extends object>(
    statement: Statement,
    values: readonly unknown[],
    causes?: readonly Context[],
  ): Promise<Result<Row>>;
}

export interface Database extends Queryable, AsyncDisposable {
  /**
   * BEGIN, `work`, COMMIT; ROLLBACK when `work` rejects. After a failed statement nothing more is sent: later statements,
   * COMMIT included, reject with its error, also when `work` resolves.
   */
  transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T>;
  /**
   * Resolves when the database responds and the pool has once had all of its connections. A caller for whom one is opened
   * fails if that takes too long, although others become free meanwhile. Untraced. While all connections are in use and the
   * database responds on them, no connection is acquired: busy is not unavailable. Rejects with DatabaseUnavailableError.
   */
  ping(): Promise<void>;
}

const ping = sql('SELECT: ping', 'SELECT 1');
const begin = sql('BEGIN', 'BEGIN');
const commit = sql('COMMIT', 'COMMIT');
const rollback = sql('ROLLBACK', 'ROLLBACK');

/** SQLSTATE classes of transient errors: connection, resources, operator intervention, transaction rollback, system. */
const TRANSIENT_CLASSES = new Set(['08', '40', '53', '57', '58', '55']);

/**
 * A query's failure as a typed error: transient or permanent. An error of the server means that the statement had no
 * effect; after any other error of a `sent` statement its effect is unknown.
 */
export function classify(error: unknown, sent: boolean): unknown {
  if (error instanceof pg.DatabaseError) {
    const passes = TRANSIENT_CLASSES.has(error.code?.slice(0, 2) ?? '') || error.code === '25006';
    return passes ? new DatabaseUnavailableError(error.message, { cause: error }) : error;
  }
  return new DatabaseUnavailableError(messageOf(error), { cause: error, sent });
}

/** Passes a failpoint after a statement took effect: a response it loses is reported as a lost connection. */
export async function runCommitFailpoint(failpoint: () => Promise<void>): Promise<void> {
  try {
    await failpoint();
  } catch (error) {
    if (!(error instanceof ReplyDroppedError)) throw error;
    throw new DatabaseUnavailableError('the connection was lost before the response', { cause: error, sent: true });
  }
}

/** The failpoint behind a COMMIT: a response that is lost is lost with its connection, which is not used again. */
async function passCommitted(failpoint: () => Promise<void>, connection: Connection): Promise<void> {
  try {
    await runCommitFailpoint(failpoint);
  } catch (error) {
    connection.broken = true;
    throw error;
  }
}

/** An error of the server leaves the connection usable, unless it says that the connection ends. */
function isBroken(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || ['08', '57'].includes(error.code?.slice(0, 2) ?? '');
}

export interface DatabaseOptions {
  readonly url: string;
  /** Where the server is, also when that changes; without them it stays at the address of `url`. */
  readonly upstreams?: EdgeUpstreams;
  readonly poolSize: number;
  /** Of a pool beside the main one of its database: a part of its name in metrics. */
  readonly purpose?: string;
  readonly applicationName: string;
  readonly logger: Logger;
  readonly connectTimeoutMs?: number;
  /** Failpoint: called when a transaction is committed and its response not yet returned; ReplyDroppedError loses that response. */
  readonly committed?: () => Promise<void>;
  readonly statementTimeoutMs?: number;
}

/**
 * Opens the pool without waiting for the server, so that a service starts while its database does. Every statement
 * takes a connection by hand and releases it. `pool.query` runs a queued caller's query in the context of the one that
 * releases, which adds SQL spans to other requests' traces (decision 0003). A connection whose query timed out is
 * destroyed, because its late response would be taken for the next query's. When the server's address changes, a new pool
 * takes the place of the old one, which ends with its last statement or transaction.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const connectTimeoutMs = options.connectTimeoutMs ?? databaseLimits.connectTimeoutMs;
  const statementTimeoutMs = options.statementTimeoutMs ?? databaseLimits.statementTimeoutMs;
  const upstreams = options.upstreams ?? fixedUpstreams;
  const urlNow = () => urlAt(options.url, upstreams);
  let current = openPool(urlNow());
  /** Pools at former addresses that are in use. */
  const former = new Set<OpenPool>();

  function openPool(url: string): OpenPool {
    const pool = new pg.Pool({
      connectionString: url,
      max: options.poolSize,
      application_name: options.applicationName,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: statementTimeoutMs,
      // The server gives up first, so that a slow statement does not go on after its caller has left.
      statement_timeout: Math.max(1, statementTimeoutMs - 100),
      idle_in_transaction_session_timeout: 10_000,
      idleTimeoutMillis: 0,
      keepAlive: true,
    });
    pool.on('error', (error) => options.logger.warn({ err: error }, 'an idle database connection was lost'));
    return { url, pool, observed: observePool(pool, url, options.purpose), spans: createQuerySpans(url), users: 0 };
  }

  const followed = upstreams.follow(() => {
    if (urlNow() === current.url) return;
    former.add(current);
    endUnused(current);
    current = openPool(urlNow());
    void untraced(fill);
  });

  /** Ends a pool at a former address once it has no users. */
  function endUnused(one: OpenPool): void {
    if (one.users > 0 || !former.delete(one)) return;
    endPool(one).catch((error: unknown) =>
      options.logger.warn({ reason: messageOf(error) }, 'the pool at the former address did not end'),
    );
  }

  /** A connection of the current pool. One that was waited for at a former address is taken at the current one. */
  async function take(): Promise<readonly [OpenPool, pg.PoolClient]> {
    for (;;) {
      const from = current;
      from.users += 1;
      try {
        return [from, await from.observed.connect()];
      } catch (error) {
        from.users -= 1;
        endUnused(from);
        if (from === current) throw classify(error, false);
      }
    }
  }

  async function withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const [from, client] = await take();
    const connection: Connection = { client, spans: from.spans, broken: false };
    // The pool listens to idle connections only; without a listener the loss of this one would end the process.
    const onLost = (error: Error) => {
      connection.broken = true;
      options.logger.debug({ reason: messageOf(error) }, 'a database connection was lost while in use');
    };
    client.on('error', onLost);
    try {
      return await work(connection);
    } finally {
      // A broken connection is destroyed, and may still emit errors.
      if (!connection.broken) client.off('error', onLost);
      client.release(connection.broken);
      from.users -= 1;
      endUnused(from);
    }
  }

  /** When a statement last took effect, on the monotonic clock. */
  let respondedAt = Number.NEGATIVE_INFINITY;

  /** Runs one statement in its own span, or in one span per cause. */
  async function run<Row extends object>(
    connection: Connection,
    { name, text }: Statement,
    values: readonly unknown[],
    causes?: readonly Context[],
  ): Promise<Result<Row>> {
    const traced = connection.spans.start({ name, text }, causes);
    const send = () => connection.client.query<Row>({ name, text, values: [...values] });
    try {
      const result = await (causes === undefined ? send() : uninstrumented(send));
      respondedAt = performance.now();
      traced?.end();
      return { rows: result.rows, count: result.rowCount ?? 0 };
    } catch (error) {
      traced?.fail(error);
      connection.broken ||= isBroken(error);
      throw classify(error, true);
    }
  }

  /** A connection that does not respond to ROLLBACK is destroyed, which rolls back as well. */
  async function rollBack(connection: Connection): Promise<void> {
    await run(connection, rollback, []).catch(() => {
      connection.broken = true;
    });
  }

  /**
   * Opens the connections that the pool lacks, so that a burst of requests does not wait for them. Each is released as
   * soon as it is open, and none is acquired from a pool that has all of them. Resolves with the failure of one that could not
   * be opened, which the next call retries.
   */
  async function fill(): Promise<unknown> {
    const { pool } = current;
    const missing = options.poolSize - pool.totalCount;
    if (missing <= 0) return undefined;
    // The pool opens one only for a caller that finds none idle.
    const taken = Array.from({ length: pool.idleCount + missing }, () => withConnection(async () => undefined));
    const failed = (await Promise.allSettled(taken)).find((one) => one.status === 'rejected');
    if (failed === undefined) return undefined;
    options.logger.debug({ reason: messageOf(failed.reason) }, 'the pool has not all of its connections');
    return failed.reason;
  }
  let filling: Promise<unknown> | undefined;
  let wasFilled = false;

  /** All connections are in use, and one of them got a response in the time that a statement may take. */
  function isBusy(): boolean {
    const { pool } = current;
    const isTaken = pool.idleCount <= pool.waitingCount && pool.totalCount >= options.poolSize;
    return isTaken && performance.now() - respondedAt < statementTimeoutMs;
  }

  const database: Database = {
    query: <Row extends object>(statement: Statement, values: readonly unknown[], causes?: readonly Context[]) =>
      withConnection((connection) => run<Row>(connection, statement, values, causes)),
    transaction: (work) =>
      withConnection(async (connection) => {
        const statements = new Sequence();
        const query: Queryable['query'] = (statement, values, causes) =>
          statements.run(() => run(connection, statement, values, causes));
        try {
          // Awaited before the next statement is sent: a statement behind a failed BEGIN would commit on its own.
          await query(begin, []);
          const result = await work({ query });
          await statements.finish(() => run(connection, commit, []));
          HARNESS: if (options.committed !== undefined) await passCommitted(options.committed, connection);
          return result;
        } catch (error) {
          await statements.abort();
          if (!connection.broken) await rollBack(connection);
          throw error;
        }
      }),
    async ping() {
      if (isBusy()) return;
      await untraced(() => database.query(ping, []));
      filling ??= untraced(fill).finally(() => {
        filling = undefined;
      });
      if (wasFilled) return;
      const failure = await filling;
      if (failure !== undefined) throw failure;
      wasFilled = true;
    },
    async [Symbol.asyncDispose]() {
      followed[Symbol.dispose]();
      const open = [current, ...former];
      former.clear();
      await Promise.all(open.map(endPool));
    },
  };
  return database;
}

/** The connections to one address. */
interface OpenPool {
  readonly url: string;
  readonly pool: pg.Pool;
  readonly observed: ObservedPool;
  readonly spans: QuerySpans;
  /** Callers that have a connection, or wait for one. */
  users: number;
}

async function endPool({ pool, observed }: OpenPool): Promise<void> {
  observed[Symbol.dispose]();
  await pool.end();
}

/** One connection while it is taken from the pool. */
interface Connection {
  readonly client: pg.PoolClient;
  readonly spans: QuerySpans;
  broken: boolean;
}
