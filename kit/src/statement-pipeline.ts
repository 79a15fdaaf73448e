import type { Socket } from 'node:net';
import pg from 'pg';

/**
 * Sends the statements of one piece of work on a connection in the order in which they are asked for. Those that come in one
 * turn of the event loop, or while others are being answered, travel together: one write, one Sync, so the server's answers
 * come in blocks and not one by one ("Pipelining" in PostgreSQL's Frontend/Backend Protocol; decision 0014).
 *
 * After one that failed nothing is run any more: the server runs nothing behind it up to the Sync, and this sends nothing
 * after that. All of it fails with the error of the first, as if it were the transaction's, which it is.
 *
 * The driver's own pipeline mode has a Sync for each statement, which is a write of the server and a wake of ours each.
 */
export class StatementPipeline {
  readonly #client: pg.ClientBase;
  #waiting: Asked[] = [];
  #isBusy = false;
  #failure: unknown;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  /**
   * The statement must be a prepared one: a simple query (text alone) has a Sync of its own.
   * Rejects with `pg.DatabaseError` when the server refuses, with `Error` when the connection is lost or out of time.
   */
  run<Row extends pg.QueryResultRow>(
    statement: pg.QueryConfig & { readonly name: string },
  ): Promise<pg.QueryResult<Row>> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const query = new pg.Query<Row>(statement, (error, result) => {
        asked.isSettled = true;
        if (error) reject(error);
        else resolve(result);
      });
      const asked: Asked = { query: query as unknown as DriverQuery, isSettled: false, reject };
      this.#waiting.push(asked);
      if (this.#isBusy) return;
      this.#isBusy = true;
      process.nextTick(() => this.#send());
    });
  }

  /** What is not sent yet, or asked for later, is rejected with `reason`. */
  close(reason: unknown): void {
    this.#failure ??= reason;
    for (const { reject } of this.#waiting) reject(this.#failure);
    this.#waiting = [];
  }

  #send(): void {
    const group = this.#waiting;
    this.#waiting = [];
    this.#isBusy = group.length > 0;
    if (!this.#isBusy) return;
    const next = () => this.#send();
    this.#client.query(new StatementGroup(group, { answered: next, failed: (error) => this.close(error) }));
  }
}

/** The part of the driver's connection that a query uses. */
interface DriverConnection {
  readonly stream: Pick<Socket, 'cork' | 'uncork' | 'destroy'>;
  readonly submittedNamedStatements: Record<string, string>;
  sync(): void;
}

/** What the driver's client calls on the query that is being answered; `@types/pg` has `submit` only. */
interface DriverQuery {
  readonly name: string;
  readonly text: string;
  /** Returns what is wrong with the query itself. */
  submit(connection: DriverConnection): Error | null;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: DriverConnection): void;
  handleReadyForQuery(connection: DriverConnection): void;
  handleError(error: unknown, connection: DriverConnection): void;
}

interface Asked {
  readonly query: DriverQuery;
  isSettled: boolean;
  reject(reason: unknown): void;
}

/** Several queries that are one to the driver's client. Each of them ends with its own answer. */
class StatementGroup implements DriverQuery {
  readonly #asked: readonly Asked[];
  readonly #on: { answered(): void; failed(error: unknown): void };
  #answered = 0;
  /** The driver puts a function here that ends its timer. */
  callback: (error?: unknown) => void = () => {};

  constructor(asked: readonly Asked[], on: { answered(): void; failed(error: unknown): void }) {
    this.#asked = asked;
    this.#on = on;
  }

  get #current(): DriverQuery | undefined {
    return this.#asked[this.#answered]?.query;
  }

  /** The client notes under it which statements the server knows. */
  get name(): string {
    return this.#current?.name ?? '';
  }

  get text(): string {
    return this.#current?.text ?? '';
  }

  submit(connection: DriverConnection): null {
    const withoutSync: DriverConnection = Object.create(connection, { sync: { value: () => {} } });
    connection.stream.cork();
    for (const { query } of this.#asked) {
      const wrong = query.submit(withoutSync);
      if (wrong) query.handleError(wrong, connection);
    }
    if (this.#asked.some(({ isSettled }) => isSettled)) {
      // One could not be written (a value that has no text form): what is written of it must not reach the server.
      connection.stream.destroy(
        new Error('a statement that was to be sent together with this one could not be written'),
      );
    }
    connection.sync();
    connection.stream.uncork();
    return null;
  }

  handleRowDescription(message: unknown): void {
    this.#current?.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#current?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: DriverConnection): void {
    const query = this.#current;
    this.#answered += 1;
    query?.handleCommandComplete(message, connection);
    query?.handleReadyForQuery(connection);
  }

  handleReadyForQuery(): void {
    this.callback();
    this.#on.answered();
  }

  handleError(error: unknown, connection: DriverConnection): void {
    const failed = this.#asked.slice(this.#answered);
    this.#answered = this.#asked.length;
    for (const { query } of failed) {
      // The server has not looked at what is behind the failed one, so it does not know those statements yet.
      delete connection.submittedNamedStatements[query.name];
      query.handleError(error, connection);
    }
    this.callback(error);
    this.#on.failed(error);
  }
}
