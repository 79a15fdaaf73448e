import {
  ConfigError,
  commonVariables,
  databaseVariables,
  keepDays,
  parseEnvironment,
  parseList,
  url,
} from '@shop/kit/config.ts';
import { type EdgeLimits, loadEdge } from '@shop/kit/edges.ts';
import { EVENT_KEEP_DAYS, FINANCIAL_KEEP_DAYS } from '@shop/kit/keep-days.ts';
import { poolSizeOf } from '@shop/kit/pool-sizes.ts';
import { checkSharedPort, inheritedPortVariables, type SharedPort } from '@shop/kit/shared-port.ts';
import { Type } from 'typebox';

/** What the service reads of its environment. */
export const variables = Type.Object({
  ...commonVariables,
  ...inheritedPortVariables,
  ...databaseVariables(poolSizeOf('orders')),
  BROKER_URL: url('`amqp://user:password@127.0.0.1:port/shop`', 'amqps?'),
  CATALOG_URLS: url('base URLs of the replicas of catalog, separated by commas', 'https?'),
  PAYMENTS_URLS: url('base URLs of the replicas of payments, separated by commas', 'https?'),
  STOCK_ADDRESSES: Type.String({
    pattern: '^[^:,\\s]+:\\d+(,[^:,\\s]+:\\d+)*$',
    description: '`host:port` of the replicas of stock, separated by commas',
  }),
  OUTBOX_KEEP_DAYS: keepDays('days that a published event is kept', EVENT_KEEP_DAYS),
  ORDERS_KEEP_DAYS: keepDays(
    'days that an order is kept after its saga has ended, and with it its Idempotency-Key; not below `OUTBOX_KEEP_DAYS`',
    FINANCIAL_KEEP_DAYS,
  ),
  FLAGS_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'file of feature flags, read again when it changes; without it all are off',
    }),
  ),
});

export interface OrdersConfig {
  readonly instance: string;
  readonly logLevel: string;
  readonly http: SharedPort;
  readonly drainTimeoutMs: number;
  readonly exitWithParent: boolean;
  readonly database: { readonly url: string; readonly poolSize: number };
  readonly brokerUrl: string;
  readonly keepDays: { readonly outbox: number; readonly orders: number };
  readonly catalog: { readonly origins: readonly string[]; readonly limits: EdgeLimits };
  readonly payments: { readonly origins: readonly string[]; readonly limits: EdgeLimits };
  readonly stock: { readonly addresses: readonly string[]; readonly limits: EdgeLimits };
  readonly flagsFile: string | undefined;
  readonly upstreamsFile: string | undefined;
}

/** Throws ConfigError naming every wrong variable. */
export function loadConfig(env: NodeJS.ProcessEnv): OrdersConfig {
  const values = parseEnvironment(variables, env);
  checkSharedPort(values);
  if (values.ORDERS_KEEP_DAYS < values.OUTBOX_KEEP_DAYS) {
    throw new ConfigError(
      'configuration: ORDERS_KEEP_DAYS must not be below OUTBOX_KEEP_DAYS, an order is kept for as long as its events; ' +
        `got ${values.ORDERS_KEEP_DAYS} and ${values.OUTBOX_KEEP_DAYS}`,
    );
  }
  return {
    instance: values.INSTANCE ?? 'orders-1',
    logLevel: values.LOG_LEVEL,
    http: { HOST: values.HOST, PORT: values.PORT, INSTANCE_PORT: values.INSTANCE_PORT, LISTEN_FD: values.LISTEN_FD },
    drainTimeoutMs: values.DRAIN_TIMEOUT_MS,
    exitWithParent: values.EXIT_WITH_PARENT === '1',
    database: { url: values.DATABASE_URL, poolSize: values.DATABASE_POOL_SIZE },
    brokerUrl: values.BROKER_URL,
    keepDays: { outbox: values.OUTBOX_KEEP_DAYS, orders: values.ORDERS_KEEP_DAYS },
    catalog: { origins: parseList(values.CATALOG_URLS), limits: loadEdge('orders-catalog', env) },
    payments: { origins: parseList(values.PAYMENTS_URLS), limits: loadEdge('orders-payments', env) },
    stock: { addresses: parseList(values.STOCK_ADDRESSES), limits: loadEdge('orders-stock', env) },
    flagsFile: values.FLAGS_FILE,
    upstreamsFile: values.UPSTREAMS_FILE,
  };
}
