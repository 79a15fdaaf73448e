import { drainServer } from '@shop/kit/draining.ts';
import { type Harness, noHarness, openHarness } from '@shop/kit/harness.ts';
import { createHealth } from '@shop/kit/health.ts';
import { openHttpReplicas } from '@shop/kit/http-replica.ts';
import { runService, serveUntilSignal } from '@shop/kit/lifecycle.ts';
import { openUpstreams } from '@shop/kit/live-upstreams.ts';
import { openLoadShedding } from '@shop/kit/load-shedding.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { createCallPolicy } from '@shop/kit/resilience.ts';
import { listenShared } from '@shop/kit/shared-port.ts';
import { createApp } from './app.ts';
import { loadConfig } from './config.ts';
import { createForwarder } from './forwarder.ts';
import { checkAny } from './replicas.ts';

void runService('gateway', process.env, async () => {
  const config = loadConfig(process.env);
  const instance = config.INSTANCE ?? 'gateway-1';
  const logger = createLogger({ service: 'gateway', instance, level: config.LOG_LEVEL });
  let harness: Harness<'gateway'> = noHarness;
  HARNESS: harness = openHarness('gateway', process.env, logger);
  using upstreams = openUpstreams(config.UPSTREAMS_FILE, logger);
  await using replicas = openHttpReplicas(config.ordersOrigins, upstreams.edge('gateway-orders'));
  using policy = createCallPolicy('gateway-orders', config.ordersEdge, logger, replicas);
  const budgetMs = config.ordersEdge.callTimeoutMs;
  using shedding = openLoadShedding(config.ADMISSION_FILE, logger);
  const forward = createForwarder({ policy, budgetMs, logger, failpoint: harness.failpoint });
  const health = createHealth({ orders: (signal) => checkAny(replicas, signal) });
  const server = createApp({ forward, shedding, budgetMs, health, logger });
  const shared = await listenShared(server, config);
  logger.info({ port: config.PORT, instancePort: config.INSTANCE_PORT }, 'listening');
  await serveUntilSignal({
    logger,
    drainTimeoutMs: config.DRAIN_TIMEOUT_MS,
    exitWithParent: config.EXIT_WITH_PARENT === '1',
    // Its replicas share the port.
    drain: () => drainServer(health, server, { shared, hasSuccessor: true }),
  });
});
