/** The SQL floor: one bare Node process that runs an order's SQL and nothing else. */
import { closedLoop, type LoopLimit, type LoopResult } from '../measure/closed-loop.ts';
import { handleCalls } from '../measure/worker.ts';
import { openBareDatabase } from './bare-database.ts';
import { type DatabaseUrls, openDatabases } from './databases.ts';
import { nextProduct } from './products.ts';
import { runShopSql, type ShopDatabases } from './shop-sql.ts';

let databases: ShopDatabases | undefined;
let statements = 0;

handleCalls({
  async open(urls: DatabaseUrls): Promise<void> {
    databases = openDatabases(urls, (url, poolSize) => openBareDatabase(url, poolSize, () => void statements++));
  },
  /** Runs one order; resolves with how many statements that took. */
  async count(): Promise<number> {
    statements = 0;
    await runShopSql(opened(), nextProduct());
    return statements;
  },
  run({ concurrency, limit }: { concurrency: number; limit: LoopLimit }): Promise<LoopResult> {
    return closedLoop(concurrency, limit, () => runShopSql(opened(), nextProduct()));
  },
});

function opened(): ShopDatabases {
  if (databases === undefined) throw new Error('call open first');
  return databases;
}
