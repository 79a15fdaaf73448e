/**
 * Applies one service's migrations where no `shopctl` runs: `DATABASE_URL=... node migrate.mjs orders`. The URL is the
 * database owner's; roles and privileges must be there. The files are `migrations/SERVICE` in the nearest folder above.
 * A contract migration needs `--oldest VERSION`, the oldest release that runs or may be rolled back to.
 * Safe when several run concurrently. Exit code 0: everything is applied; 1: it is not, and the last log line says why;
 * 2: called wrongly.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createLogger } from '@shop/kit/logger.ts';
import { toCliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { migrateDatabase } from '../providers/postgres/migrate.ts';
import { MigrateUsageError, parseMigrationTask } from './login.ts';
import { gateFor } from './oldest-release.ts';

const logger = createLogger({ service: 'migrations', instance: process.env.HOSTNAME ?? 'migrations', level: 'info' });

try {
  const { service, login, oldest } = parseMigrationTask(process.argv.slice(2), process.env);
  const { applied } = await migrateDatabase(login, locateMigrations(service), gateFor(oldest));
  logger.info({ database: login.database, applied }, applied.length === 0 ? 'nothing to apply' : 'migrations applied');
} catch (error) {
  const { message, next } = toCliError(error);
  logger.error({ reason: message, ...(next !== undefined && { next }) }, 'migrations were not applied');
  process.exitCode = error instanceof MigrateUsageError ? exitCodes.usage : 1;
}

function locateMigrations(service: string): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, 'migrations', service);
    if (existsSync(path)) return path;
  }
  throw new MigrateUsageError(`there is no folder migrations/${service} above ${import.meta.dirname}`);
}
