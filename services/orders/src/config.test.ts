import { ConfigError } from '@shop/kit/config.ts';
import { edges } from '@shop/kit/edges.ts';
import { describe, expect, it } from 'vitest';
import { loadConfig } from './config.ts';

const complete = {
  PORT: '8081',
  DATABASE_URL: 'postgres://orders:s3cret-of-the-database@127.0.0.1:5432/orders',
  BROKER_URL: 'amqp://orders:s3cret-of-the-broker@127.0.0.1:5672/shop',
  CATALOG_URLS: 'http://127.0.0.1:8082',
  PAYMENTS_URLS: 'http://127.0.0.1:8084, http://127.0.0.1:8085',
  STOCK_ADDRESSES: '127.0.0.1:8083,127.0.0.1:8093',
};

function errorOf(env: NodeJS.ProcessEnv): string {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

describe('the configuration of orders', () => {
  it('fills in the defaults', () => {
    expect(loadConfig(complete)).toMatchObject({
      instance: 'orders-1',
      logLevel: 'info',
      http: { HOST: '127.0.0.1', PORT: 8081 },
      drainTimeoutMs: 15_000,
      exitWithParent: false,
      database: { url: complete.DATABASE_URL, poolSize: 8 },
    });
  });

  it.each([
    [{ ORDERS_KEEP_DAYS: '730' }, 'ORDERS_KEEP_DAYS'],
    [{ OUTBOX_KEEP_DAYS: '364' }, 'OUTBOX_KEEP_DAYS'],
    [{ OUTBOX_KEEP_DAYS: '800' }, 'ORDERS_KEEP_DAYS must not be below OUTBOX_KEEP_DAYS'],
  ])('refuses to keep less than the audit looks at, and an order for less than its events: %j', (env, message) => {
    expect(errorOf({ ...complete, ...env })).toContain(message);
  });

  it('reads lists of replicas', () => {
    const { payments, stock } = loadConfig(complete);
    expect(payments.origins).toEqual(['http://127.0.0.1:8084', 'http://127.0.0.1:8085']);
    expect(stock.addresses).toEqual(['127.0.0.1:8083', '127.0.0.1:8093']);
  });

  it('takes the limits of its edges from the table, with overrides', () => {
    const { payments, stock } = loadConfig({ ...complete, EDGE_ORDERS_PAYMENTS_ATTEMPT_TIMEOUT_MS: '500' });
    expect(payments.limits).toEqual({ ...edges['orders-payments'], attemptTimeoutMs: 500 });
    expect(stock.limits).toEqual(edges['orders-stock']);
  });

  it('names everything that is missing in one error', () => {
    const message = errorOf({});
    for (const name of Object.keys(complete)) expect(message).toContain(name);
  });

  it.each([
    ['PORT', '0'],
    ['PORT', '65536'],
    ['PORT', 'http'],
    ['INSTANCE', 'Orders 1'],
    ['LOG_LEVEL', 'loud'],
    ['DATABASE_POOL_SIZE', '0'],
    ['DRAIN_TIMEOUT_MS', '1.5'],
    ['EXIT_WITH_PARENT', 'yes'],
    ['STOCK_ADDRESSES', '127.0.0.1'],
    ['EDGE_ORDERS_STOCK_ATTEMPTS', '0'],
  ])('refuses %s=%s, and says what it got', (name, value) => {
    const message = errorOf({ ...complete, [name]: value });
    expect(message).toContain(name);
    expect(message).toContain(`"${value}"`);
  });

  it.each(['DATABASE_URL', 'BROKER_URL'])('refuses a wrong %s without repeating it', (name) => {
    const message = errorOf({ ...complete, [name]: 'mysql://orders:s3cret@127.0.0.1/orders' });
    expect(message).toContain(name);
    expect(message).not.toContain('s3cret');
  });
});
