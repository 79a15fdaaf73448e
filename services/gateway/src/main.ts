import { drainServer } from '@shop/kit/draining.ts';
import { createFailpoints } from '@shop/kit/failpoints.ts';
import { createHealth } from '@shop/kit/health.ts';
import { runService, serveUntilSignal } from '@shop/kit/lifecycle.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { createCallPolicy } from '@shop/kit/resilience.ts';
import { createApp } from './app.ts';
import { loadConfig } from './config.ts';
import { createForwarder } from './forwarder.ts';
import { createReplicas } from './replicas.ts';

await runService('gateway', process.env, async () => {
  const config = loadConfig(process.env);
  const instance = config.INSTANCE ?? 'gateway-1';
  const logger = createLogger({ service: 'gateway', instance, level: config.LOG_LEVEL });
  await using replicas = createReplicas(config.ordersOrigins);
  using policy = createCallPolicy('gateway-orders', config.ordersEdge, logger, replicas.all);
  const budgetMs = config.ordersEdge.callTimeoutMs;
  const failpoint = createFailpoints('gateway', config.FAILPOINT_DIR);
  const forward = createForwarder({ policy, budgetMs, logger, failpoint });
  const health = createHealth({ orders: (signal) => replicas.check(signal) });
  const server = await createApp({ forward, budgetMs, health, logger });
  await server.listen({ host: config.HOST, port: config.PORT });
  logger.info({ port: config.PORT }, 'listening');
  await serveUntilSignal({
    logger,
    drainTimeoutMs: config.DRAIN_TIMEOUT_MS,
    exitWithParent: config.EXIT_WITH_PARENT === '1',
    drain: () => drainServer(health, server),
  });
});
