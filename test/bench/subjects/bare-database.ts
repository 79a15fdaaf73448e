import pg from 'pg';
import type { Database, Queryable, Statement } from '../../../kit/src/database.ts';

/** Called before each statement, BEGIN and COMMIT included. */
type Watch = (text: string) => void;

/**
 * The services' access to a database with nothing but the driver: no time limits, no classified errors, no tracing.
 * Statements are prepared, as in the services.
 */
export function openBareDatabase(url: string, poolSize: number, watch: Watch = () => undefined): Database {
  const pool = new pg.Pool({ connectionString: url, max: poolSize, idleTimeoutMillis: 0 });

  async function run<Row extends object>(on: pg.Pool | pg.PoolClient, query: pg.QueryConfig) {
    watch(query.text);
    const { rows, rowCount } = await on.query<Row>(query);
    return { rows, count: rowCount ?? 0 };
  }
  const queryable = (on: pg.Pool | pg.PoolClient): Queryable => ({
    query: <Row extends object>({ name, text }: Statement, values: readonly unknown[]) =>
      run<Row>(on, { name, text, values: [...values] }),
  });

  return {
    ...queryable(pool),
    async transaction(work) {
      const client = await pool.connect();
      try {
        await run(client, { text: 'BEGIN' });
        const result = await work(queryable(client));
        await run(client, { text: 'COMMIT' });
        client.release();
        return result;
      } catch (error) {
        client.release(true);
        throw error;
      }
    },
    async ping() {
      await pool.query('SELECT 1');
    },
    async [Symbol.asyncDispose]() {
      await pool.end();
    },
  };
}
