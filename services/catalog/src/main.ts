import { openDatabase } from '@shop/kit/database.ts';
import { drainServer } from '@shop/kit/draining.ts';
import { type Harness, noHarness, openHarness } from '@shop/kit/harness.ts';
import { createHealth } from '@shop/kit/health.ts';
import { runService, serveUntilSignal } from '@shop/kit/lifecycle.ts';
import { openUpstreams } from '@shop/kit/live-upstreams.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { listenShared } from '@shop/kit/shared-port.ts';
import { createApp } from './app.ts';
import { loadConfig } from './config.ts';
import { createProducts } from './repository.ts';

void runService('catalog', process.env, async () => {
  const config = loadConfig(process.env);
  const instance = config.INSTANCE ?? 'catalog-1';
  const logger = createLogger({ service: 'catalog', instance, level: config.LOG_LEVEL });
  let harness: Harness<'catalog'> = noHarness;
  HARNESS: harness = openHarness('catalog', process.env, logger);
  using upstreams = openUpstreams(config.UPSTREAMS_FILE, logger);
  await using database = openDatabase({
    url: config.DATABASE_URL,
    upstreams: upstreams.edge('catalog-db'),
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: instance,
    logger,
  });
  const health = createHealth({ database: () => database.ping() });
  const products = createProducts(database, harness.failpoint);
  const server = createApp({ products, health, logger });
  const shared = await listenShared(server, config);
  logger.info({ port: config.PORT, instancePort: config.INSTANCE_PORT }, 'listening');
  await serveUntilSignal({
    logger,
    drainTimeoutMs: config.DRAIN_TIMEOUT_MS,
    exitWithParent: config.EXIT_WITH_PARENT === '1',
    drain: (end) => drainServer(health, server, { shared, ...end }),
  });
});
