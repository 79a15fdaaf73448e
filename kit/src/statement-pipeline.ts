import type { Socket } from 'node:net';
import pg from 'pg';

/** It must have a name: a simple query (text alone) has a Sync of its own. */
interface Prepared {
  readonly name: string;
  readonly text: string;
}

/** Rejects with `pg.DatabaseError` when the server refuses, with `Error` when the connection is lost or out of time. */
export function runAlone<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  statement: Prepared,
  values: readonly unknown[],
): Promise<pg.QueryResult<Row>> {
  return new Promise((resolve, reject) => {
    client.query(queryOf<Row>(statement, values, (error, result) => (error ? reject(error) : resolve(result))));
  });
}

/** The driver clones what it is told in one object, which costs as much as half of all else it does for a statement. */
function queryOf<Row extends pg.QueryResultRow>(
  { name, text }: Prepared,
  values: readonly unknown[],
  settle: (error: Error | undefined, result: pg.ResultBuilder<Row>) => void,
): DriverQuery {
  const query = new pg.Query<Row>(text, values as unknown[], settle) as unknown as DriverQuery;
  query.name = name;
  return query;
}

/**
 * Sends the statements of one transaction in the order in which they are asked for. Those that come in one turn of the event
 * loop, or while others are being answered, travel together: one write, one Sync, so the server's answers come in blocks and not
 * one by one ("Pipelining" in PostgreSQL's Frontend/Backend Protocol; decision 0014).
 *
 * After one that failed nothing is run any more: the server runs nothing behind it up to the Sync, and this sends nothing
 * after that. All of it fails with the error of the first.
 *
 * The driver's own pipeline mode has a Sync for each statement, which is a write of the server and a wake of ours each.
 */
export class StatementPipeline {
  readonly #client: pg.ClientBase;
  readonly #waiting: Asked[] = [];
  #isBusy = false;
  /** Makes the reason why nothing is sent any more. */
  #refusal: (() => unknown) | undefined;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  /** Resolves and rejects as `runAlone` does, and rejects with the error of an earlier statement that failed. */
  run<Row extends pg.QueryResultRow>(statement: Prepared, values: readonly unknown[]): Promise<pg.QueryResult<Row>> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal());
    return new Promise((resolve, reject) => {
      const query = queryOf<Row>(statement, values, (error, result) => {
        asked.isSettled = true;
        if (error) reject(error);
        else resolve(result);
        if (asked.isAlone) this.#ended(error);
      });
      const asked = new Asked(query, reject);
      this.#waiting.push(asked);
      if (this.#isBusy) return;
      this.#isBusy = true;
      process.nextTick(() => this.#send());
    });
  }

  /** The work has ended: what is not sent yet, or asked for later, is rejected. */
  close(): void {
    this.#refuse(ended);
  }

  #refuse(reason: () => unknown): void {
    this.#refusal ??= reason;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#refusal());
  }

  #send(): void {
    this.#isBusy = this.#waiting.length > 0;
    if (this.#waiting.length > 1) {
      const group = new StatementGroup(this.#waiting.splice(0), (error) => this.#ended(error));
      this.#client.query(group);
      return;
    }
    const alone = this.#waiting.pop();
    if (alone === undefined) return;
    alone.isAlone = true;
    this.#client.query(alone.query);
  }

  /** What was sent is answered, up to the end or to the first failure. */
  #ended(failure: unknown): void {
    if (failure) this.#refuse(() => failure);
    else this.#send();
  }
}

const ended = () => new Error('the transaction had ended when the statement was to be sent');

/** The part of the driver's connection that a query uses. */
interface DriverConnection {
  readonly stream: Pick<Socket, 'cork' | 'uncork' | 'destroy'>;
  readonly submittedNamedStatements: Record<string, string>;
  sync(): void;
}

/** What the driver's client calls on the query that is being answered; `@types/pg` has `submit` only. */
interface DriverQuery {
  name: string;
  readonly text: string;
  /** Returns what is wrong with the query itself. */
  submit(connection: DriverConnection): Error | null;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: DriverConnection): void;
  handleReadyForQuery(connection: DriverConnection): void;
  handleError(error: unknown, connection: DriverConnection): void;
}

/** A statement that was asked for. A class, because V8 would allocate literals of that lifetime among the old objects. */
class Asked {
  readonly query: DriverQuery;
  readonly reject: (reason: unknown) => void;
  isSettled = false;
  /** Sent by itself, with a Sync of its own. */
  isAlone = false;

  constructor(query: DriverQuery, reject: (reason: unknown) => void) {
    this.query = query;
    this.reject = reject;
  }
}

/** Several queries that are one to the driver's client. Each of them ends with its own answer. */
class StatementGroup implements DriverQuery {
  readonly #asked: readonly Asked[];
  readonly #ended: (failure?: unknown) => void;
  #answered = 0;
  /** The driver puts a function here that ends its timer. */
  callback: (error?: unknown) => void = () => {};

  constructor(asked: readonly Asked[], ended: (failure?: unknown) => void) {
    this.#asked = asked;
    this.#ended = ended;
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
    const { sync } = connection;
    connection.stream.cork();
    // Each query writes a Sync behind itself; for this turn they do not.
    connection.sync = () => {};
    for (const { query } of this.#asked) {
      const wrong = query.submit(connection);
      if (wrong) query.handleError(wrong, connection);
    }
    connection.sync = sync;
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
    this.#ended();
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
    this.#ended(error);
  }
}
