/*
 * Goal: a key is one order in both versions of the API. Method: the gateway's and orders' own servers on a database, with fakes
 * behind orders.
 */
import { randomUUID } from 'node:crypto';
import { type Database, openDatabase, sql } from '@shop/kit/database.ts';
import { edges } from '@shop/kit/edges.ts';
import { createHealth } from '@shop/kit/health.ts';
import { type HttpReplica, openHttpReplicas } from '@shop/kit/http-replica.ts';
import { openLoadShedding } from '@shop/kit/load-shedding.ts';
import { createLogger } from '@shop/kit/logger.ts';
import type { Replicas } from '@shop/kit/replicas.ts';
import { type CallPolicy, createCallPolicy } from '@shop/kit/resilience.ts';
import type { HttpServer } from '@shop/kit/server.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp } from '../../services/gateway/src/app.ts';
import { createForwarder } from '../../services/gateway/src/forwarder.ts';
import { createOrders, type Orders } from '../../services/orders/src/app.ts';
import { createOrderMetrics } from '../../services/orders/src/metrics.ts';
import { createOwnership, type Ownership } from '../../services/orders/src/ownership.ts';
import { createDatabase, START_TIMEOUT_MS } from '../support/infrastructure.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const count = sql('SELECT orders: test', 'SELECT count(*)::int AS orders FROM orders');
const limits = edges['gateway-orders'];
const failpoint = async () => undefined;

let database: Database;
let ownership: Ownership;
let orders: Orders;
let replicas: Replicas<HttpReplica>;
let policy: CallPolicy<HttpReplica>;
let gateway: HttpServer;
let address: string;

beforeAll(async () => {
  const { url } = await createDatabase('orders');
  database = openDatabase({ url, poolSize: 4, applicationName: 'orders-test', logger });
  ownership = createOwnership({ database, instance: 'orders-test', logger });
  orders = createOrders({
    database,
    ownership,
    catalog: { findProduct: async (id) => ({ id, priceKopiykas: 45_000, currency: 'UAH' }) },
    stock: { reserve: async () => 'reserved', release: async () => undefined },
    payments: { charge: async () => 'accepted', refund: async () => undefined },
    publisher: { ready: true, publish: async () => undefined, [Symbol.asyncDispose]: async () => undefined },
    logger,
    failpoint,
    flags: { isOn: async () => false },
    metrics: createOrderMetrics,
  });
  replicas = openHttpReplicas([await orders.server.listen({ host: '127.0.0.1', port: 0 })]);
  policy = createCallPolicy('gateway-orders', limits, logger, replicas);
  gateway = createApp({
    forward: createForwarder({ policy, budgetMs: limits.callTimeoutMs, logger, failpoint }),
    shedding: openLoadShedding(undefined, logger),
    budgetMs: limits.callTimeoutMs,
    health: createHealth({}),
    logger,
  });
  address = await gateway.listen({ host: '127.0.0.1', port: 0 });
}, START_TIMEOUT_MS);

afterAll(async () => {
  await gateway.close();
  policy[Symbol.dispose]();
  await replicas[Symbol.asyncDispose]();
  await orders.drain();
  await ownership[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function place(base: string, key: string, order: object) {
  const response = await fetch(`${address}${base}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(order),
  });
  const { id, code } = (await response.json()) as { id?: string; code?: string };
  return { status: response.status, id, code, location: response.headers.get('location') };
}

const ordersRecorded = async () => (await database.query<{ orders: number }>(count, [])).rows[0]?.orders;

it.each([
  ['/api', '/api/v2'],
  ['/api/v2', '/api'],
])('an order of %s is the same one when it is repeated by %s, and no other with its key', async (first, second) => {
  const key = randomUUID();
  const before = (await ordersRecorded()) ?? 0;
  const order = { customer: 'Olena', lines: [{ productId: 1, quantity: 2 }] };
  // What version 1 does not have makes no other order of it.
  const asIn = (base: string) => (base === '/api/v2' ? { ...order, giftNote: 'x' } : order);
  const placed = await place(first, key, asIn(first));
  expect(placed).toMatchObject({ status: 201, location: `${first}/orders/${placed.id}` });
  const repeated = await place(second, key, asIn(second));
  expect(repeated).toEqual({ ...placed, location: `${second}/orders/${placed.id}` });
  expect(await place(second, key, { ...order, customer: 'Oleh' })).toMatchObject({
    status: 422,
    code: 'idempotency_key_reused',
  });
  expect(await ordersRecorded()).toBe(before + 1);
});
