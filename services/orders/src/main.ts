import { openDatabase } from '@shop/kit/database.ts';
import { openFlags } from '@shop/kit/flags.ts';
import { type Harness, noHarness, openHarness } from '@shop/kit/harness.ts';
import { createHttpClient } from '@shop/kit/http-client.ts';
import { runService, serveUntilSignal } from '@shop/kit/lifecycle.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { createCallPolicy } from '@shop/kit/resilience.ts';
import { startRetention } from '@shop/kit/retention.ts';
import { createOrders } from './app.ts';
import { createCatalog } from './catalog-client.ts';
import { loadConfig } from './config.ts';
import { purgePublished } from './outbox.ts';
import { openOwnership } from './ownership.ts';
import { type Parts, realParts } from './parts.ts';
import { createPayments } from './payments-client.ts';
import { openPublisher } from './publisher.ts';
import { purgeOrders } from './repository.ts';
import { createSeededBugs } from './seeded-bugs/seeded-bugs.ts';
import { createStock, createStockReplica } from './stock-client.ts';

await runService('orders', process.env, async () => {
  const config = loadConfig(process.env);
  const { instance, catalog, payments, stock } = config;
  const logger = createLogger({ service: 'orders', instance, level: config.logLevel });
  let harness: Harness<'orders'> = noHarness;
  HARNESS: harness = openHarness('orders', process.env, logger);
  let parts: Parts = realParts;
  HARNESS: parts = createSeededBugs(harness.seededBugs, harness);

  using flags = await openFlags(config.flagsFile, logger);
  await using database = openDatabase({ ...config.database, applicationName: instance, logger });
  await using ownership = openOwnership({ url: config.database.url, instance, logger });
  await using _outboxRetention = startRetention({
    table: 'outbox',
    keepDays: config.keepDays.outbox,
    purge: (limits) => purgePublished(database, limits),
    logger,
  });
  await using _ordersRetention = startRetention({
    table: 'orders',
    keepDays: config.keepDays.orders,
    purge: (limits) => purgeOrders(database, limits),
    logger,
  });
  await using publisher = await openPublisher({
    url: config.brokerUrl,
    logger,
    instance,
    isMandatory: parts.isMandatory,
  });
  await using catalogClient = createHttpClient('orders-catalog', catalog.origins);
  await using paymentsClient = createHttpClient('orders-payments', payments.origins);
  using open = new DisposableStack();
  const stockReplicas = stock.addresses.map((address) => open.use(createStockReplica(address)));
  using catalogPolicy = createCallPolicy(
    'orders-catalog',
    parts.limits(catalog.limits),
    logger,
    catalogClient.replicas,
  );
  using paymentsPolicy = createCallPolicy(
    'orders-payments',
    parts.limits(payments.limits),
    logger,
    paymentsClient.replicas,
  );
  using stockPolicy = createCallPolicy('orders-stock', parts.limits(stock.limits), logger, stockReplicas);

  const orders = createOrders({
    database: parts.database(database, publisher),
    ownership,
    publisher,
    catalog: parts.catalog(createCatalog(catalogClient, catalogPolicy)),
    payments: createPayments(parts.paymentsClient(paymentsClient), parts.paymentsPolicy(paymentsPolicy)),
    stock: createStock(stockPolicy),
    logger,
    failpoint: harness.failpoint,
    flags,
    metrics: parts.metrics,
  });
  await orders.server.listen(config.http);
  await serveUntilSignal({ ...config, logger, drain: () => orders.drain() });
});
