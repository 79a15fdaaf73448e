import type { Database } from '@shop/kit/database.ts';
import { DatabaseUnavailableError } from '@shop/kit/failures.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { expect, it } from 'vitest';
import { createOrders, type OrdersDependencies } from './app.ts';
import { createOrderMetrics } from './metrics.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });

const charged = {
  id: '0198c9a0-0000-7000-8000-0000000000aa',
  lines: [{ productId: 1, quantity: 1, unitKopiykas: 100 }],
  total_kopiykas: '100',
  currency: 'UAH',
  state: 'PaymentCharged',
  status: null,
  version: 3,
  reason: null,
  pending: ['refund payment', 'release stock'],
  attempts: 0,
  last_error: null,
  owner: 'another',
  trace_parent: null,
  created_at: new Date(),
};

/** A database that gives recovery one saga to resume, and cannot be reached by its save. */
function brokenDatabase() {
  const statements: string[] = [];
  const query = async ({ name }: { name: string }) => {
    statements.push(name);
    const isFirst = statements.filter((one) => one === name).length === 1;
    if (name === 'UPDATE orders: adopt' && isFirst) return { rows: [charged], count: 1 };
    if (name.includes('confirm')) throw new DatabaseUnavailableError('unavailable');
    return { rows: [], count: 0 };
  };
  const database = {
    query,
    transaction: () => Promise.reject(new DatabaseUnavailableError('unavailable')),
    ping: async () => undefined,
  };
  return { database: database as unknown as Database, statements };
}

function ordersWith(database: Database, ownership: Pick<OrdersDependencies['ownership'], 'ensure' | 'mayAdopt'>) {
  return createOrders({
    database,
    ownership: { id: 'own', ...ownership },
    publisher: { ready: false },
    logger,
    failpoint: async () => undefined,
    flags: { isOn: async () => false },
    metrics: createOrderMetrics,
  } as unknown as OrdersDependencies);
}

it('is not ready before it has its lease: it would refuse the orders that it is sent', async () => {
  const { database } = brokenDatabase();
  const lease = { isHeld: false };
  const orders = ordersWith(database, {
    async ensure() {
      if (!lease.isHeld) throw new DatabaseUnavailableError('Connection terminated due to connection timeout');
    },
    mayAdopt: () => false,
  });
  const readiness = async () => (await orders.server.inject('/health/ready')).json();
  expect(await readiness()).toMatchObject({
    status: 'not ready',
    dependencies: [{ name: 'database', status: 'down' }],
  });
  lease.isHeld = true;
  expect(await readiness()).toMatchObject({ status: 'ready', dependencies: [{ name: 'database', status: 'up' }] });
  await orders.drain();
});

it('ends although a resumed saga cannot be saved, because the database is unavailable', async () => {
  const { database, statements } = brokenDatabase();
  const orders = ordersWith(database, { ensure: async () => undefined, mayAdopt: () => true });
  await orders.server.listen({ host: '127.0.0.1', port: 0 });
  await expect.poll(() => statements).toContain('UPDATE orders, INSERT outbox: confirm');
  await orders.drain();
  expect(orders.server.server.listening).toBe(false);
});
