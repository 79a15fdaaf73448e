/**
 * A shop's ledger in real databases, a real broker and a real telemetry store, in which everything balances: one order of
 * every kind, an hour old. Tests alter one row and audit.
 */

import {
  DEAD_LETTERS_EXCHANGE,
  DEAD_LETTERS_QUEUE,
  declareTopology,
  EVENTS_EXCHANGE,
  ORDER_CONFIRMED_QUEUE,
} from '@shop/kit/topology.ts';
import amqp, { type ChannelModel, type ConfirmChannel } from 'amqplib';
import pg from 'pg';
import { createBroker, createDatabase } from '../../../../test/support/infrastructure.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../otlp/receiver.ts';
import { openShopDatabases } from '../../shop/databases.ts';
import { createBackend } from '../../trace/backend.ts';
import { type AuditOptions, type AuditReport, audit } from '../audit.ts';
import type { ByStatus } from '../invariants/metrics.ts';
import type { AuditTarget } from '../target.ts';

const NAMES = ['orders', 'catalog', 'payments', 'stock', 'shipping'] as const;
type Name = (typeof NAMES)[number];

/** The orders of the balanced ledger, by what became of them. */
export const ids = {
  confirmed: '10000000-0000-4000-8000-000000000001',
  alsoConfirmed: '20000000-0000-4000-8000-000000000002',
  declined: '30000000-0000-4000-8000-000000000003',
  outOfStock: '40000000-0000-4000-8000-000000000004',
  refunded: '50000000-0000-4000-8000-000000000005',
  nobody: '60000000-0000-4000-8000-000000000006',
} as const;

const HOUR_AGO = `now() - interval '1 hour'`;
const trace = (id: string) => `00-${id.replaceAll('-', '')}-00f067aa0ba902b7-01`;

function order(id: string, lines: string, total: number, status: string, reason: string | null): string {
  const text = reason === null ? 'NULL' : `'${reason}'`;
  return `INSERT INTO orders (id, customer, lines, total_kopiykas, currency, status, reason, state, open, owner, trace_parent, created_at, decided_at, updated_at)
    VALUES ('${id}', 'somebody', '${lines}', ${total}, 'UAH', '${status}', ${text}, '${status}', false, gen_random_uuid(), '${trace(id)}', ${HOUR_AGO}, ${HOUR_AGO}, ${HOUR_AGO});`;
}

function event(id: string, total: number, lines: string): string {
  const data = { orderId: id, total, currency: 'UAH', lines: JSON.parse(lines) };
  const payload = JSON.stringify({ id: messageOf(id), type: 'order.confirmed', source: '/shop/orders', data });
  return `INSERT INTO outbox (id, order_id, type, payload, "TraceParent", created_at, published_at)
    VALUES ('${messageOf(id)}', '${id}', 'order.confirmed', '${payload}', '${trace(id)}', ${HOUR_AGO}, ${HOUR_AGO});`;
}

const line = (productId: number, quantity: number, priceKopiykas: number) =>
  JSON.stringify([{ productId, quantity, priceKopiykas }]);
const taken = (productId: number, quantity: number) => JSON.stringify([{ productId, quantity }]);

/** Id of the event of an order. */
export function messageOf(orderId: string): string {
  return `e${orderId.slice(1)}`;
}

const payment = (id: string, amount: number, state: string) =>
  `INSERT INTO payments (order_id, charge_key, refund_key, amount_kopiykas, currency, state, created_at)
   VALUES ('${id}', '${id}:charge', ${state === 'refunded' ? `'${id}:refund'` : 'NULL'}, ${amount}, 'UAH', '${state}', ${HOUR_AGO});`;
const reservation = (id: string, lines: string, state: string) =>
  `INSERT INTO reservations (order_id, reserve_key, release_key, state, lines, insufficient_product_ids, created_at, released_at)
   VALUES ('${id}', '${id}:reserve', ${state === 'released' ? `'${id}:release', '${state}'` : `NULL, '${state}'`}, '${lines}',
     ${state === 'insufficient' ? `'{10}'` : `'{}'`}, ${HOUR_AGO}, ${state === 'released' ? HOUR_AGO : 'NULL'});`;
const effect = (id: string, kind: 'charge' | 'refund', amount: number) =>
  `INSERT INTO payment_effects (order_id, kind, amount_kopiykas, currency, created_at)
   VALUES ('${id}', '${kind}', ${amount}, 'UAH', ${HOUR_AGO});`;
const shipped = (id: string, lines: string) =>
  `INSERT INTO inbox (message_id, type, order_id, received_at) VALUES ('${messageOf(id)}', 'order.confirmed', '${id}', ${HOUR_AGO});
   INSERT INTO "Shipments" ("OrderId", "Lines", "CreatedAt") VALUES ('${id}', '${lines}', ${HOUR_AGO});
   INSERT INTO parcels (order_id, lines, created_at) VALUES ('${id}', '${lines}', ${HOUR_AGO});`;

const balanced: Readonly<Record<Name, string>> = {
  orders: [
    'TRUNCATE orders, outbox;',
    order(ids.confirmed, line(1, 2, 45_000), 90_000, 'Confirmed', null),
    order(ids.alsoConfirmed, line(5, 1, 125_000), 125_000, 'Confirmed', null),
    order(ids.declined, line(12, 1, 7_250_000), 7_250_000, 'Cancelled', 'payment declined'),
    order(ids.outOfStock, line(10, 99, 860_000), 85_140_000, 'Cancelled', 'out of stock'),
    order(ids.refunded, line(2, 3, 18_500), 55_500, 'Cancelled', 'payment unavailable'),
    event(ids.confirmed, 90_000, taken(1, 2)),
    event(ids.alsoConfirmed, 125_000, taken(5, 1)),
  ].join('\n'),
  // The prices of the seed, at which all that was ordered here was ordered.
  catalog: `TRUNCATE product_prices; INSERT INTO product_prices SELECT id, price_kopiykas, currency, '-infinity' FROM products;`,
  payments: [
    'TRUNCATE payments, payment_effects;',
    payment(ids.confirmed, 90_000, 'accepted'),
    payment(ids.alsoConfirmed, 125_000, 'accepted'),
    payment(ids.declined, 7_250_000, 'declined'),
    payment(ids.refunded, 55_500, 'refunded'),
    effect(ids.confirmed, 'charge', 90_000),
    effect(ids.alsoConfirmed, 'charge', 125_000),
    effect(ids.refunded, 'charge', 55_500),
    effect(ids.refunded, 'refund', 55_500),
  ].join('\n'),
  stock: [
    'TRUNCATE reservations; UPDATE inventory SET on_hand = initial_on_hand - CASE product_id WHEN 1 THEN 2 WHEN 5 THEN 1 ELSE 0 END;',
    reservation(ids.confirmed, taken(1, 2), 'reserved'),
    reservation(ids.alsoConfirmed, taken(5, 1), 'reserved'),
    reservation(ids.declined, taken(12, 1), 'released'),
    reservation(ids.outOfStock, taken(10, 99), 'insufficient'),
    reservation(ids.refunded, taken(2, 3), 'released'),
  ].join('\n'),
  shipping: [
    'TRUNCATE inbox, "Shipments", parcels;',
    shipped(ids.confirmed, taken(1, 2)),
    shipped(ids.alsoConfirmed, taken(5, 1)),
  ].join('\n'),
};

/** What one process of orders is made to report. */
export interface Report {
  readonly instance?: string;
  readonly pid?: number;
  readonly sagas: ByStatus;
  readonly durations?: ByStatus;
  /** Sum of each status' durations. */
  readonly durationMs?: number;
  readonly pending?: number;
  /** ms before now. */
  readonly ageMs?: number;
}

export interface LedgerFixture extends AsyncDisposable {
  readonly target: AuditTarget;
  /** URL of the service's own role. */
  serviceUrl(name: Name): string;
  /** Everything balances again; metrics as given, or as they should be. */
  reset(reports?: readonly Report[]): Promise<void>;
  /** Runs SQL as the owner of a database. */
  alter(name: Name, text: string): Promise<void>;
  /** Puts messages into the queue, or among the dead letters. */
  publish(to: 'queue' | 'dead letters', count: number): Promise<void>;
  audit(options?: Partial<AuditOptions>): Promise<AuditReport>;
}

export async function openLedgerFixture(): Promise<LedgerFixture> {
  const databases = Object.fromEntries(
    await Promise.all(NAMES.map(async (name) => [name, await createDatabase(name)] as const)),
  ) as Record<Name, Awaited<ReturnType<typeof createDatabase>>>;
  const owners = Object.fromEntries(
    NAMES.map((name) => [name, new pg.Pool({ connectionString: databases[name].ownerUrl, max: 1 })]),
  ) as Record<Name, pg.Pool>;
  await Promise.all(NAMES.map((name) => admitImpossibleRows(owners[name], balanced[name])));
  const { operatorUrl } = await createBroker();
  const connection: ChannelModel = await amqp.connect(operatorUrl);
  const channel = await connection.createConfirmChannel();
  await declareTopology(channel);
  let telemetry: OtlpReceiver = await startOtlpReceiver({ host: '127.0.0.1', port: 0 });
  const urls = Object.fromEntries(NAMES.map((name) => [name, databases[name].operatorUrl])) as Record<Name, string>;
  // The one instance that is meant to run is connected.
  const instance = new pg.Client({ connectionString: databases.orders.url, application_name: 'orders-1' });
  await instance.connect();
  const operator = openShopDatabases(urls);

  const target: AuditTarget = {
    databaseUrls: urls,
    databases: operator,
    queues: () => depths(channel),
    telemetry: {
      metrics: (names) => createBackend(telemetry.url).metrics(names),
      metricStats: () => createBackend(telemetry.url).metricStats(),
    },
    startedAt: Date.now() - 2 * 3_600_000,
    instances: ['orders-1'],
    seededBugs: [],
    crashes: {},
    [Symbol.asyncDispose]: async () => undefined,
  };
  return {
    target,
    serviceUrl: (name) => databases[name].url,
    async reset(reports = [{ sagas: { Confirmed: 2, Cancelled: 3 } }]) {
      await Promise.all(NAMES.map((name) => owners[name].query(balanced[name])));
      await channel.purgeQueue(ORDER_CONFIRMED_QUEUE);
      await channel.purgeQueue(DEAD_LETTERS_QUEUE);
      await telemetry.close();
      telemetry = await startOtlpReceiver({ host: '127.0.0.1', port: 0, limits: { staleAfterMs: 30_000 } });
      for (const report of reports) telemetry.metrics.add(metricsData(report), Date.now() - (report.ageMs ?? 0));
    },
    alter: async (name, text) => void (await owners[name].query(text)),
    async publish(to, count) {
      const exchange = to === 'queue' ? EVENTS_EXCHANGE : DEAD_LETTERS_EXCHANGE;
      for (let index = 0; index < count; index++) channel.publish(exchange, 'order.confirmed', Buffer.from('{}'));
      await channel.waitForConfirms();
    },
    audit: (options) => audit({ target, settleMs: 0, ...options }),
    async [Symbol.asyncDispose]() {
      await operator[Symbol.asyncDispose]();
      await instance.end();
      await Promise.all(Object.values(owners).map((pool) => pool.end()));
      await telemetry.close();
      await connection.close();
    },
  };
}

/** The databases refuse most of what tests alter: they take the balanced ledger with their CHECKs, and lose those after it. */
async function admitImpossibleRows(owner: pg.Pool, ledger: string): Promise<void> {
  await owner.query(ledger);
  await owner.query(`DO $$ DECLARE one record; BEGIN
    FOR one IN SELECT conrelid::regclass AS place, conname FROM pg_constraint
      WHERE contype = 'c' AND connamespace = 'public'::regnamespace
    LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', one.place, one.conname); END LOOP;
  END $$`);
}

/** Nobody consumes in these tests, so that all messages are ready. */
async function depths(channel: ConfirmChannel) {
  const names = [ORDER_CONFIRMED_QUEUE, DEAD_LETTERS_QUEUE];
  return Promise.all(
    names.map(async (name) => {
      const { messageCount, consumerCount } = await channel.checkQueue(name);
      return { name, ready: messageCount, unacknowledged: 0, consumers: consumerCount };
    }),
  );
}

function metricsData(report: Report) {
  const { instance = 'orders-1', pid = 1, sagas, durations = sagas, durationMs = 1, pending = 0, ageMs = 0 } = report;
  const timeUnixNano = String((Date.now() - ageMs) * 1_000_000);
  const attributes = (status: string) => [{ key: 'status', value: { stringValue: status } }];
  const statuses = ['Confirmed', 'Cancelled'] as const;
  const metrics = [
    {
      name: 'shop.sagas',
      sum: {
        isMonotonic: true,
        aggregationTemporality: 2,
        dataPoints: statuses.map((status) => ({ attributes: attributes(status), timeUnixNano, asInt: sagas[status] })),
      },
    },
    {
      name: 'shop.saga.duration',
      histogram: {
        aggregationTemporality: 2,
        dataPoints: statuses.map((status) => ({
          attributes: attributes(status),
          timeUnixNano,
          count: durations[status],
          sum: durationMs,
        })),
      },
    },
    { name: 'shop.outbox.pending', gauge: { dataPoints: [{ attributes: [], timeUnixNano, asInt: pending }] } },
  ];
  const resource = {
    attributes: [
      { key: 'service.name', value: { stringValue: 'orders' } },
      { key: 'service.instance.id', value: { stringValue: instance } },
      { key: 'process.pid', value: { intValue: pid } },
    ],
  };
  return { resourceMetrics: [{ resource, scopeMetrics: [{ scope: { name: 'Shop.Orders' }, metrics }] }] };
}
