import { type DatabaseOptions, openDatabase } from '@shop/kit/database.ts';
import { type Harness, noHarness, openHarness } from '@shop/kit/harness.ts';
import { createHealth } from '@shop/kit/health.ts';
import { runService, serveUntilSignal } from '@shop/kit/lifecycle.ts';
import { openUpstreams } from '@shop/kit/live-upstreams.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { startRetention } from '@shop/kit/retention.ts';
import { createApp } from './app.ts';
import { loadConfig } from './config.ts';
import { purgeReservations } from './repository.ts';
import { forgettingEarlyReleases } from './seeded-bugs/release-before-reserve-forgotten.ts';
import { createStock } from './stock.ts';

void runService('stock', process.env, async () => {
  const config = loadConfig(process.env);
  const instance = config.INSTANCE ?? 'stock-1';
  const logger = createLogger({ service: 'stock', instance, level: config.LOG_LEVEL });
  let harness: Harness<'stock'> = noHarness;
  HARNESS: harness = openHarness('stock', process.env, logger);
  let committed: DatabaseOptions['committed'];
  HARNESS: committed = () => harness.failpoint('transaction-committed:unacknowledged');
  using upstreams = openUpstreams(config.UPSTREAMS_FILE, logger);
  await using database = openDatabase({
    url: config.DATABASE_URL,
    upstreams: upstreams.edge('stock-db'),
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: instance,
    logger,
    committed,
  });
  await using _reservationsRetention = startRetention({
    table: 'reservations',
    keepDays: config.RESERVATIONS_KEEP_DAYS,
    purge: (limits) => purgeReservations(database, limits),
    logger,
  });
  let stock = createStock(database, harness.failpoint);
  HARNESS: if (harness.seededBugs.has('release-before-reserve-forgotten')) {
    stock = forgettingEarlyReleases(stock, database);
  }
  const health = createHealth({ database: () => database.ping() });
  const app = createApp({ stock, health, logger });
  const { HOST: host, PORT: port, LISTEN_FD: fd } = config;
  await app.listen(fd === undefined ? { host, port } : { fd });
  await app.healthServer.listen({ host: config.HOST, port: config.HEALTH_PORT });
  logger.info({ port: config.PORT, healthPort: config.HEALTH_PORT }, 'listening');
  await serveUntilSignal({
    logger,
    drainTimeoutMs: config.DRAIN_TIMEOUT_MS,
    exitWithParent: config.EXIT_WITH_PARENT === '1',
    async drain() {
      health.drain();
      // The other half of the time is for all that closes after the servers.
      await app.close(config.DRAIN_TIMEOUT_MS / 2);
    },
  });
});
