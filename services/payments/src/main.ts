import { openDatabase } from '@shop/kit/database.ts';
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
import { createPayments } from './payments.ts';
import { createPaymentStore, purgePayments } from './repository.ts';
import { chargingAgain } from './seeded-bugs/charged-twice.ts';
import { failingLargeCharges } from './seeded-bugs/large-charges-fail.ts';
import { chargingEveryTime } from './seeded-bugs/no-idempotency-key.ts';

void runService('payments', process.env, async () => {
  const config = loadConfig(process.env);
  const instance = config.INSTANCE ?? 'payments-1';
  const logger = createLogger({ service: 'payments', instance, level: config.LOG_LEVEL });
  let harness: Harness<'payments'> = noHarness;
  HARNESS: harness = openHarness('payments', process.env, logger);
  using upstreams = openUpstreams(config.UPSTREAMS_FILE, logger);
  await using database = openDatabase({
    url: config.DATABASE_URL,
    upstreams: upstreams.edge('payments-db'),
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: instance,
    logger,
  });
  await using _paymentsRetention = startRetention({
    table: 'payments',
    keepDays: config.PAYMENTS_KEEP_DAYS,
    purge: (limits) => purgePayments(database, limits),
    logger,
  });
  let payments = createPayments(createPaymentStore(database), harness.failpoint);
  HARNESS: if (harness.seededBugs.has('charged-twice')) payments = chargingAgain(payments, database);
  HARNESS: if (harness.seededBugs.has('no-idempotency-key')) payments = chargingEveryTime(payments, database);
  HARNESS: if (harness.seededBugs.has('large-charges-fail')) payments = failingLargeCharges(payments);
  const health = createHealth({ database: () => database.ping() });
  const server = createApp({ payments, health, logger });
  const shared = await listenShared(server, config);
  logger.info({ port: config.PORT, instancePort: config.INSTANCE_PORT }, 'listening');
  await serveUntilSignal({
    logger,
    drainTimeoutMs: config.DRAIN_TIMEOUT_MS,
    exitWithParent: config.EXIT_WITH_PARENT === '1',
    drain: (end) => drainServer(health, server, { shared, ...end }),
  });
});
