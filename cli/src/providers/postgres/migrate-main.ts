import { join } from 'node:path';
import { migrateDatabase } from './migrate.ts';

// A program of its own, where no supervisor migrates: in the image of a service (`node dist/migrate.mjs orders`), run by
// compose or as a Kubernetes Job with the owner's DATABASE_URL. Exit codes: 0, 1 (said on standard error), 2 (usage).
const [database = ''] = process.argv.slice(2);
const url = URL.parse(process.env.DATABASE_URL ?? '');
if (!/^[a-z]+$/.test(database) || url === null) {
  // The URL holds a password: it is not repeated.
  console.error('usage: DATABASE_URL=postgres://owner:password@host/database node migrate.mjs SERVICE');
  process.exit(2);
}
const login = {
  host: url.hostname,
  port: Number(url.port || 5432),
  user: decodeURIComponent(url.username),
  password: decodeURIComponent(url.password),
  database: url.pathname.slice(1),
};
try {
  const applied = await migrateDatabase(login, join(import.meta.dirname, '../migrations', database));
  console.log(`${login.database}: ${applied.length === 0 ? 'nothing to migrate' : `applied ${applied.join(', ')}`}`);
} catch (error) {
  console.error(`${login.database}: ${(error as Error).message}`);
  process.exit(1);
}
