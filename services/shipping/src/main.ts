import { type Database, type DatabaseOptions, openDatabase } from '@shop/kit/database.ts';
import { drainServer } from '@shop/kit/draining.ts';
import { type Harness, noHarness, openHarness } from '@shop/kit/harness.ts';
import { createHealth } from '@shop/kit/health.ts';
import { runService, serveUntilSignal } from '@shop/kit/lifecycle.ts';
import { openUpstreams } from '@shop/kit/live-upstreams.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { startRetention } from '@shop/kit/retention.ts';
import { listenShared } from '@shop/kit/shared-port.ts';
import { createApp } from './app.ts';
import { loadConfig } from './config.ts';
import { type Consumer, openConsumer } from './consumer.ts';
import { backoffs } from './delivery.ts';
import { createDelayRecorder, createEventCounter, createMessageCounter } from './metrics.ts';
import { createShipments, purgeInbox, purgeShipments } from './repository.ts';
import { withoutInbox } from './seeded-bugs/no-inbox.ts';
import { openShadow } from './shadow/shadow.ts';

void runService('shipping', process.env, async () => {
  const config = loadConfig(process.env);
  const instance = config.INSTANCE ?? 'shipping-1';
  const logger = createLogger({ service: 'shipping', instance, level: config.LOG_LEVEL });
  let harness: Harness<'shipping'> = noHarness;
  HARNESS: harness = openHarness('shipping', process.env, logger);
  let committed: DatabaseOptions['committed'];
  HARNESS: committed = () => harness.failpoint('transaction-committed:unacknowledged');
  using upstreams = openUpstreams(config.UPSTREAMS_FILE, logger);
  await using database = openDatabase({
    url: config.DATABASE_URL,
    upstreams: upstreams.edge('shipping-db'),
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: instance,
    logger,
    committed,
  });
  const shipmentsOn = (target: Database) => {
    const own = createShipments(target, harness.failpoint);
    HARNESS: if (harness.seededBugs.has('no-inbox')) return withoutInbox(own, target);
    return own;
  };
  const shipments = shipmentsOn(database);
  const atBroker = {
    url: config.BROKER_URL,
    upstreams: upstreams.edge('shipping-broker'),
    instance,
    prefetch: config.CONSUMER_PREFETCH,
    logger,
  };
  const isShadow = config.SHOP_SHADOW === '1';
  await using shadow = isShadow ? await openShadow({ ...atBroker, database, shipmentsOn }) : undefined;
  await using _inboxRetention = isShadow
    ? undefined
    : startRetention({
        table: 'inbox',
        keepDays: config.INBOX_KEEP_DAYS,
        purge: (limits) => purgeInbox(database, limits),
        logger,
      });
  await using _shipmentsRetention = isShadow
    ? undefined
    : startRetention({
        table: 'Shipments',
        keepDays: config.SHIPMENTS_KEEP_DAYS,
        purge: (limits) => purgeShipments(database, limits),
        logger,
      });
  await using serving = isShadow
    ? undefined
    : await openConsumer({
        ...atBroker,
        deliveries: upstreams.edge('broker-shipping'),
        delivery: {
          shipments,
          count: createMessageCounter(),
          countEvent: createEventCounter(),
          recordDelay: createDelayRecorder(),
          logger,
          failpoint: harness.failpoint,
          backoffs,
        },
      });
  const consumer = (serving ?? shadow) as Pick<Consumer, 'ready' | 'drain'>;
  const health = createHealth({
    database: () => database.ping(),
    async broker() {
      if (!consumer.ready) throw new Error('no messages are being consumed');
    },
  });
  const server = createApp({ shipments, health, logger, ...(shadow && { shadow }) });
  const shared = await listenShared(server, config);
  logger.info({ port: config.PORT, instancePort: config.INSTANCE_PORT }, 'listening');
  await serveUntilSignal({
    logger,
    drainTimeoutMs: config.DRAIN_TIMEOUT_MS,
    exitWithParent: config.EXIT_WITH_PARENT === '1',
    async drain(end) {
      await Promise.all([consumer.drain(), drainServer(health, server, { shared, ...end })]);
    },
  });
});
