import { openDatabase } from '@shop/kit/database.ts';
import { drainServer } from '@shop/kit/draining.ts';
import { createFailpoints } from '@shop/kit/failpoints.ts';
import { createHealth } from '@shop/kit/health.ts';
import { runService, serveUntilSignal } from '@shop/kit/lifecycle.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { startRetention } from '@shop/kit/retention.ts';
import { parseSeededBugs, warnOfSeededBugs } from '@shop/kit/seeded-bugs.ts';
import { createApp } from './app.ts';
import { loadConfig } from './config.ts';
import { openConsumer } from './consumer.ts';
import { backOffs } from './delivery.ts';
import { createMessageCounter } from './metrics.ts';
import { createShipments, purgeInbox, purgeShipments } from './repository.ts';
import { withoutInbox } from './seeded-bugs/no-inbox.ts';

await runService('shipping', process.env, async () => {
  const config = loadConfig(process.env);
  const instance = config.INSTANCE ?? 'shipping-1';
  const logger = createLogger({ service: 'shipping', instance, level: config.LOG_LEVEL });
  const failpoint = createFailpoints('shipping', config.FAILPOINT_DIR);
  await using database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: instance,
    logger,
    committed: () => failpoint('transaction-committed:unacknowledged'),
  });
  await using _inboxRetention = startRetention({
    table: 'inbox',
    keepDays: config.INBOX_KEEP_DAYS,
    purge: (limits) => purgeInbox(database, limits),
    logger,
  });
  await using _shipmentsRetention = startRetention({
    table: 'Shipments',
    keepDays: config.SHIPMENTS_KEEP_DAYS,
    purge: (limits) => purgeShipments(database, limits),
    logger,
  });
  const seededBugs = parseSeededBugs('shipping', config);
  warnOfSeededBugs(seededBugs, logger);
  const real = createShipments(database, failpoint);
  const shipments = seededBugs.has('no-inbox') ? withoutInbox(real, database) : real;
  await using consumer = await openConsumer({
    url: config.BROKER_URL,
    instance,
    prefetch: config.CONSUMER_PREFETCH,
    logger,
    delivery: { shipments, count: createMessageCounter(), logger, failpoint, backOffs },
  });
  const health = createHealth({
    database: () => database.ping(),
    async broker() {
      if (!consumer.consuming) throw new Error('no messages are being consumed');
    },
  });
  const server = createApp({ shipments, health, logger });
  await server.listen({ host: config.HOST, port: config.PORT });
  logger.info({ port: config.PORT }, 'listening');
  await serveUntilSignal({
    logger,
    drainTimeoutMs: config.DRAIN_TIMEOUT_MS,
    exitWithParent: config.EXIT_WITH_PARENT === '1',
    async drain() {
      await Promise.all([consumer.drain(), drainServer(health, server)]);
    },
  });
});
