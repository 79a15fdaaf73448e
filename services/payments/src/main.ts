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
import { createPayments } from './payments.ts';
import { createPaymentStore, purgePayments } from './repository.ts';
import { chargingAgain } from './seeded-bugs/charged-twice.ts';
import { chargingEveryTime } from './seeded-bugs/no-idempotency-key.ts';

await runService('payments', process.env, async () => {
  const config = loadConfig(process.env);
  const instance = config.INSTANCE ?? 'payments-1';
  const logger = createLogger({ service: 'payments', instance, level: config.LOG_LEVEL });
  await using database = openDatabase({
    url: config.DATABASE_URL,
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
  const seededBugs = parseSeededBugs('payments', config);
  warnOfSeededBugs(seededBugs, logger);
  const failpoint = createFailpoints('payments', config.FAILPOINT_DIR);
  const real = createPayments(createPaymentStore(database), failpoint);
  const once = seededBugs.has('charged-twice') ? chargingAgain(real, database) : real;
  const payments = seededBugs.has('no-idempotency-key') ? chargingEveryTime(once, database) : once;
  const health = createHealth({ database: () => database.ping() });
  const server = createApp({ payments, health, logger });
  await server.listen({ host: config.HOST, port: config.PORT });
  logger.info({ port: config.PORT }, 'listening');
  await serveUntilSignal({
    logger,
    drainTimeoutMs: config.DRAIN_TIMEOUT_MS,
    exitWithParent: config.EXIT_WITH_PARENT === '1',
    drain: () => drainServer(health, server),
  });
});
