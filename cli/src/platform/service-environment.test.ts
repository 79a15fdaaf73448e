import { describe, expect, it } from 'vitest';
import { createSecrets } from '../providers/secrets.ts';
import { edges, type ServiceName, services } from '../topology/services.ts';
import { databasePoolSizeIn, serviceEnvironment } from './service-environment.ts';

const secrets = createSecrets();

function environmentOf(name: ServiceName, overrides: Record<string, unknown> = {}): Record<string, string> {
  const definition = services.find((service) => service.name === name);
  if (!definition) throw new Error(name);
  return serviceEnvironment({
    definition,
    instance: `${name}-1`,
    ports: { main: 4000 },
    endpointsOf: (edge) => [{ host: '127.0.0.1', port: 5000 + edges.indexOf(edge) }],
    secrets,
    telemetryUrl: 'http://127.0.0.1:4318',
    compileCacheDir: '/cache',
    env: {},
    ...overrides,
  });
}

it('the number of connections of services is read from the same variable', () => {
  const env = { DATABASE_POOL_SIZE: '2' };
  expect(environmentOf('orders', { env }).DATABASE_POOL_SIZE).toBe('2');
  expect(databasePoolSizeIn(env)).toBe(2);
  expect([{}, { DATABASE_POOL_SIZE: '' }, { DATABASE_POOL_SIZE: 'two' }].map(databasePoolSizeIn)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

describe("a service's environment", () => {
  it('has one variable per edge, each pointing at the edge', () => {
    const orders = environmentOf('orders');
    expect(orders.CATALOG_URLS).toBe('http://127.0.0.1:5001');
    expect(orders.STOCK_ADDRESSES).toBe('127.0.0.1:5002');
    expect(orders.PAYMENTS_URLS).toBe('http://127.0.0.1:5003');
    expect(orders.DATABASE_URL).toMatch(/^postgres:\/\/orders:.+@127\.0\.0\.1:5004\/orders$/);
    expect(orders.BROKER_URL).toMatch(/^amqp:\/\/orders:.+@127\.0\.0\.1:5009\/shop$/);
  });

  it('lists every replica of a target', () => {
    const twice = [5000, 5100].map((port) => ({ host: '127.0.0.1', port }));
    expect(environmentOf('gateway', { endpointsOf: () => twice }).ORDERS_URLS).toBe(
      'http://127.0.0.1:5000,http://127.0.0.1:5100',
    );
  });

  it('names the file that has the addresses later, where there is one', () => {
    const upstreamsFile = '/state/upstreams/upstreams.json';
    expect(environmentOf('shipping', { upstreamsFile }).UPSTREAMS_FILE).toBe(upstreamsFile);
    expect(environmentOf('shipping')).not.toHaveProperty('UPSTREAMS_FILE');
  });

  it("holds no other service's password", () => {
    const others = Object.entries(secrets.postgres.services).filter(([name]) => name !== 'catalog');
    const text = JSON.stringify(environmentOf('catalog'));
    for (const [, password] of others) expect(text).not.toContain(password);
    expect(text).not.toContain(secrets.postgres.superuser);
    expect(text).not.toContain(secrets.postgres.operator);
  });

  it('passes on the overrides meant for services and nothing else of the shell', () => {
    const env = {
      EDGE_ORDERS_PAYMENTS_ATTEMPT_TIMEOUT_MS: '500',
      LOG_LEVEL: 'debug',
      AWS_SECRET: 'x',
      NODE_OPTIONS: '--inspect',
    };
    const passed = environmentOf('orders', { env });
    expect(passed).toMatchObject({ EDGE_ORDERS_PAYMENTS_ATTEMPT_TIMEOUT_MS: '500', LOG_LEVEL: 'debug' });
    expect(passed).not.toHaveProperty('AWS_SECRET');
    expect(passed).not.toHaveProperty('NODE_OPTIONS');
  });

  it('says where the share of orders that are shed is set, to the service that admits orders', () => {
    const admission = { admissionFile: '/state/admission/admission.json' };
    expect(environmentOf('gateway', admission).ADMISSION_FILE).toBe('/state/admission/admission.json');
    expect(environmentOf('orders', admission)).not.toHaveProperty('ADMISSION_FILE');
  });

  it('names the seeded bugs of this service only', () => {
    const seededBugs = ['no-inbox', 'retry-declined', 'breaker-counts-402'];
    expect(environmentOf('orders', { seededBugs }).SHOP_SEEDED_BUGS).toBe('retry-declined,breaker-counts-402');
    expect(environmentOf('shipping', { seededBugs }).SHOP_SEEDED_BUGS).toBe('no-inbox');
    expect(environmentOf('gateway', { seededBugs })).not.toHaveProperty('SHOP_SEEDED_BUGS');
    expect(environmentOf('orders', { env: { SHOP_SEEDED_BUGS: 'retry-declined' } })).not.toHaveProperty(
      'SHOP_SEEDED_BUGS',
    );
  });

  it('reaches a broker that is not ours through its proxy, with the account of its URL', () => {
    const orders = environmentOf('orders', { externalBrokerUrl: 'amqp://me:pw@broker.example:5672/other' });
    expect(orders.BROKER_URL).toBe('amqp://me:pw@127.0.0.1:5009/other');
  });
});
