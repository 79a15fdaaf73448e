import { openDatabase } from '@shop/kit/database.ts';
import { openFlags } from '@shop/kit/flags.ts';
import { type Harness, noHarness, openHarness } from '@shop/kit/harness.ts';
import { createHttpClient } from '@shop/kit/http-client.ts';
import { runService, serveUntilSignal } from '@shop/kit/lifecycle.ts';
import { openUpstreams } from '@shop/kit/live-upstreams.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { openReplicas } from '@shop/kit/replicas.ts';
import { createCallPolicy } from '@shop/kit/resilience.ts';
import { startRetention } from '@shop/kit/retention.ts';
import { listenShared } from '@shop/kit/shared-port.ts';
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

void runService('orders', process.env, async () => {
  const config = loadConfig(process.env);
  const { instance, catalog, payments, stock } = config;
  const logger = createLogger({ service: 'orders', instance, level: config.logLevel });
  let harness: Harness<'orders'> = noHarness;
  HARNESS: harness = openHarness('orders', process.env, logger);
  let parts: Parts = realParts;
  HARNESS: parts = createSeededBugs(harness.seededBugs, harness);

  using flags = await openFlags(config.flagsFile, logger);
  using upstreams = openUpstreams(config.upstreamsFile, logger);
  const databaseAt = { url: config.database.url, upstreams: upstreams.edge('orders-db') };
  await using database = openDatabase({ ...config.database, ...databaseAt, applicationName: instance, logger });
  await using ownership = openOwnership({ ...databaseAt, instance, logger });
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
    upstreams: upstreams.edge('orders-broker'),
    logger,
    instance,
    isMandatory: parts.isMandatory,
  });
  const catalogAt = upstreams.edge('orders-catalog');
  await using catalogClient = createHttpClient('orders-catalog', catalog.origins, catalogAt);
  const paymentsAt = upstreams.edge('orders-payments');
  await using paymentsClient = createHttpClient('orders-payments', payments.origins, paymentsAt);
  const stockAt = upstreams.edge('orders-stock');
  await using stockReplicas = openReplicas({
    addresses: stock.addresses,
    upstreams: stockAt,
    open: createStockReplica,
  });
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
    flags: parts.flags(flags),
    metrics: parts.metrics,
  });
  const shared = await listenShared(orders.server, config.http);
  await serveUntilSignal({ ...config, logger, drain: (end) => orders.drain({ shared, ...end }) });
});
