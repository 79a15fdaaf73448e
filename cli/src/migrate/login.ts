import type { Login } from '../providers/postgres/client.ts';
import { isVersion } from '../shared/version-order.ts';

/** Whose migrations to apply, and how to reach the database as its owner. */
export interface MigrationTask {
  readonly service: string;
  readonly login: Login;
  /** The oldest release of the service that runs, or that may be rolled back to. */
  readonly oldest?: string;
}

/** The command was called wrongly; nothing was changed. */
export class MigrateUsageError extends Error {
  override readonly name = 'MigrateUsageError';
}

/** Reads `SERVICE`, `--oldest VERSION` and `DATABASE_URL`. Throws MigrateUsageError that repeats no password. */
export function parseMigrationTask(args: readonly string[], env: NodeJS.ProcessEnv): MigrationTask {
  const [service, option, oldest, ...more] = args;
  const isComplete = option === undefined || (option === '--oldest' && oldest !== undefined && more.length === 0);
  if (service === undefined || !isComplete || !/^[a-z]+$/.test(service)) {
    throw new MigrateUsageError(
      'usage: DATABASE_URL=postgres://OWNER:PASSWORD@HOST/DATABASE node migrate.mjs SERVICE [--oldest VERSION]',
    );
  }
  if (oldest !== undefined && !isVersion(oldest)) {
    throw new MigrateUsageError(`--oldest must be a version like 0.3.0, not "${oldest}"`);
  }
  const url = env.DATABASE_URL;
  if (url === undefined || !/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw new MigrateUsageError('DATABASE_URL must be a postgres:// URL of the database owner');
  }
  const { hostname: host, port, username, password, pathname } = new URL(url);
  if (host === '' || username === '' || pathname.length < 2) {
    throw new MigrateUsageError('DATABASE_URL must name a user, a host and a database');
  }
  const login = {
    host,
    port: Number(port || 5432),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    url,
  };
  return { service, login, ...(oldest !== undefined && { oldest }) };
}
