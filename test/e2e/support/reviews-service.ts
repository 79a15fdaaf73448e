/**
 * What a contributor writes for a seventh service by the recipe of CONTRIBUTING.md: `reviews`, with health over HTTP, a
 * database, and an edge to the catalog. Paths are relative to the clone.
 */
export const newFiles: Readonly<Record<string, string>> = {
  'services/reviews/package.json': `${JSON.stringify(
    {
      name: '@shop/reviews',
      private: true,
      license: 'Apache-2.0',
      version: '0.2.0',
      type: 'module',
      sideEffects: false,
      dependencies: { '@shop/kit': '0.2.0', typebox: '1.4.3' },
    },
    undefined,
    2,
  )}\n`,
  'services/reviews/src/config.ts': `import { commonVariables, databaseVariables, parseEnvironment, url } from '@shop/kit/config.ts';
import { type EdgeLimits, loadEdge } from '@shop/kit/edges.ts';
import { poolSizeOf } from '@shop/kit/pool-sizes.ts';
import { inheritedPortVariables } from '@shop/kit/shared-port.ts';
import { type Static, Type } from 'typebox';

/** What the service reads of its environment. */
export const variables = Type.Object({
  ...commonVariables,
  ...inheritedPortVariables,
  ...databaseVariables(poolSizeOf('reviews')),
  CATALOG_URLS: url('base URLs of the replicas of catalog, separated by commas', 'http'),
});

export interface ReviewsConfig extends Static<typeof variables> {
  readonly catalogEdge: EdgeLimits;
}

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): ReviewsConfig {
  return Object.freeze({ ...parseEnvironment(variables, env), catalogEdge: loadEdge('reviews-catalog', env) });
}
`,
  'services/reviews/src/main.ts': `import { openDatabase } from '@shop/kit/database.ts';
import { drainServer } from '@shop/kit/draining.ts';
import { createHealth } from '@shop/kit/health.ts';
import { runService, serveUntilSignal } from '@shop/kit/lifecycle.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { createServer } from '@shop/kit/server.ts';
import { listenShared } from '@shop/kit/shared-port.ts';
import { loadConfig } from './config.ts';

void runService('reviews', process.env, async () => {
  const config = loadConfig(process.env);
  const instance = config.INSTANCE ?? 'reviews-1';
  const logger = createLogger({ service: 'reviews', instance, level: config.LOG_LEVEL });
  await using database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: instance,
    logger,
  });
  const health = createHealth({ database: () => database.ping() });
  const server = createServer({ logger, health });
  const shared = await listenShared(server, config);
  logger.info({ port: config.PORT }, 'listening');
  await serveUntilSignal({
    logger,
    drainTimeoutMs: config.DRAIN_TIMEOUT_MS,
    exitWithParent: config.EXIT_WITH_PARENT === '1',
    drain: (end) => drainServer(health, server, { shared, ...end }),
  });
});
`,
  'migrations/reviews/0001_reviews.sql': `CREATE TABLE reviews (
  id uuid PRIMARY KEY,
  product_id int NOT NULL,
  text text NOT NULL
);
`,
};

/** A line that is added to a file that there is, after another one. */
export interface Addition {
  readonly file: string;
  readonly after: RegExp;
  readonly line: string;
}

export const additions: readonly Addition[] = [
  {
    file: 'cli/src/topology/services.ts',
    after: /^ {2}\{ name: 'shipping'.*$/m,
    line: "  { name: 'reviews', protocol: 'http', semiSpaceMb: 2, calls: ['catalog'], mainTable: 'reviews' },",
  },
  {
    file: 'kit/src/edges.ts',
    after: /^ {2}'orders-payments': .*$/m,
    line: "  'reviews-catalog': { ...defaults, attemptTimeoutMs: 1_000, attempts: 3, callTimeoutMs: 3_500, bulkhead: 16 },",
  },
];
