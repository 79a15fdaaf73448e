import type { Database, Queryable, Result, Statement } from '@shop/kit/database.ts';
import { databaseLimits } from '@shop/kit/edges.ts';
import { DatabaseUnavailableError } from '@shop/kit/failures.ts';
import type { StatementName } from './faults.ts';
import { asDatabaseResponse, type Network } from './network.ts';
import { type OrdersStore, shortId } from './orders-store.ts';
import type { SimulatedProcess } from './process.ts';

/** One process's connections to the orders database, over the simulated network. */
export function connectDatabase(store: OrdersStore, network: Network, from: SimulatedProcess): Database {
  function ask<T>(at: StatementName, about: string, handle: () => T): Promise<T> {
    return asDatabaseResponse(
      network.send({ from, to: 'database', at, about, handle }),
      databaseLimits.statementTimeoutMs,
    );
  }

  function query<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Result<Row>> {
    const about = typeof values[0] === 'string' ? shortId(values[0]) : '';
    return ask(store.kindOf(statement), about, () => store.apply(statement, values)) as Promise<Result<Row>>;
  }

  const database: Database = {
    query,
    transaction: (work) => inTransaction(work),
    ping: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };

  /** What a transaction writes is kept back until it commits; its locks end with it, or with its process. */
  async function inTransaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T> {
    const id = {};
    const staged: (() => void)[] = [];
    let failed = false;
    const end = () => {
      for (const entry of store.outbox) if (entry.lockedBy === id) entry.lockedBy = undefined;
      staged.length = 0;
      failed = true;
    };
    from.onDeath(end);
    const transaction: Queryable = {
      query: async <Row extends object>(statement: Statement, values: readonly unknown[]) => {
        const kind = store.kindOf(statement);
        try {
          if (failed) throw new DatabaseUnavailableError('the transaction has failed');
          return (await ask(kind, '', () => {
            if (failed) return { rows: [], count: 0 };
            if (kind === 'claim') return store.apply(statement, values, id);
            staged.push(() => store.apply(statement, values));
            return { rows: [], count: 1 };
          })) as Result<Row>;
        } catch (error) {
          end();
          throw error;
        }
      },
    };
    try {
      const result = await work(transaction);
      await ask('commit', '', () => {
        if (failed) throw new DatabaseUnavailableError('the transaction was rolled back');
        for (const write of staged) write();
      });
      return result;
    } finally {
      end();
    }
  }

  return database;
}
