import type { DatabaseName } from '../../../cli/src/platform/connection.ts';
import { databaseNames } from '../../../cli/src/providers/databases.ts';
import type { Database } from '../../../kit/src/database.ts';

/** URLs of the services' own roles; they hold passwords. */
export type DatabaseUrls = Readonly<Record<DatabaseName, string>>;

/** The services' defaults (docs/architecture.md, DATABASE_POOL_SIZE). */
const POOL_SIZE = 4;
const ORDERS_POOL_SIZE = 8;

/** All five, each with a pool as large as its service's. */
export function openDatabases(
  urls: DatabaseUrls,
  open: (url: string, poolSize: number) => Database,
): Record<DatabaseName, Database> {
  const opened = databaseNames.map((name) => [
    name,
    open(urls[name], name === 'orders' ? ORDERS_POOL_SIZE : POOL_SIZE),
  ]);
  return Object.fromEntries(opened) as Record<DatabaseName, Database>;
}
