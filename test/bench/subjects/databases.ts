import { type DatabaseName, databaseNames } from '../../../cli/src/topology/databases.ts';
import { type Database, openDatabase } from '../../../kit/src/database.ts';
import { createLogger } from '../../../kit/src/logger.ts';

/** URLs of the services' own roles; they hold passwords. */
export type DatabaseUrls = Readonly<Record<DatabaseName, string>>;

/** Connections of each pool. */
export interface PoolSizes {
  /** Of what the engine writes about itself. */
  readonly orders: number;
  /** Of each database that a step works on. */
  readonly steps: number;
}

/** The services' defaults (docs/architecture.md, DATABASE_POOL_SIZE). */
const SERVICE_POOLS: PoolSizes = { orders: 8, steps: 4 };
/** One process that runs engine and steps does more concurrently than a service; every engine has as many. */
export const ENGINE_POOLS: PoolSizes = { orders: 16, steps: 8 };

/** All five databases. */
export function openDatabases(
  urls: DatabaseUrls,
  open: (url: string, poolSize: number) => Database,
  sizes: PoolSizes = SERVICE_POOLS,
): Record<DatabaseName, Database> {
  const opened = databaseNames.map((name) => [name, open(urls[name], name === 'orders' ? sizes.orders : sizes.steps)]);
  return Object.fromEntries(opened) as Record<DatabaseName, Database>;
}

/** All five as the services open them: every engine of a comparison runs its steps through the same code. */
export function openEngineDatabases(urls: DatabaseUrls, engine: string): Record<DatabaseName, Database> {
  const logger = createLogger({ service: 'bench', instance: engine, level: 'fatal' });
  const open = (url: string, poolSize: number) => openDatabase({ url, poolSize, applicationName: engine, logger });
  return openDatabases(urls, open, ENGINE_POOLS);
}
