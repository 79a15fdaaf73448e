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
import { type DatabaseName, databaseNames } from '../../topology/databases.ts';
import { createBackend } from '../../trace/backend.ts';
import { type AuditOptions, type AuditReport, audit } from '../audit.ts';
import type { ByStatus } from '../invariants/metrics.ts';
import { beginSnapshot, type Snapshot } from '../snapshot.ts';
import type { AuditTarget } from '../target.ts';
import { type LedgerOrder, rowsOf } from './ledger-rows.ts';

/** The orders of the balanced ledger, by what became of them. */
export const ids = {
  confirmed: '10000000-0000-4000-8000-000000000001',
  alsoConfirmed: '20000000-0000-4000-8000-000000000002',
  declined: '30000000-0000-4000-8000-000000000003',
  outOfStock: '40000000-0000-4000-8000-000000000004',
  refunded: '50000000-0000-4000-8000-000000000005',
  unplaced: '60000000-0000-4000-8000-000000000006',
} as const;

/** Prices of the seed. */
const orders: readonly LedgerOrder[] = [
  { id: ids.confirmed, kind: 'confirmed', productId: 1, quantity: 2, priceKopiykas: 45_000 },
  { id: ids.alsoConfirmed, kind: 'confirmed', productId: 5, quantity: 1, priceKopiykas: 125_000 },
  { id: ids.declined, kind: 'declined', productId: 12, quantity: 1, priceKopiykas: 7_250_000 },
  { id: ids.outOfStock, kind: 'out of stock', productId: 10, quantity: 99, priceKopiykas: 860_000 },
  { id: ids.refunded, kind: 'refunded', productId: 2, quantity: 3, priceKopiykas: 18_500 },
];

/** Of the databases that the audit checks. */
const balanced: Readonly<Partial<Record<DatabaseName, string>>> = {
  orders: `TRUNCATE orders, outbox; ${rowsOf(orders).orders}`,
  // The prices of the seed, at which all that was ordered here was ordered.
  catalog: `TRUNCATE product_prices; INSERT INTO product_prices SELECT id, price_kopiykas, currency, '-infinity' FROM products;`,
  payments: `TRUNCATE payments, payment_effects; ${rowsOf(orders).payments}`,
  stock: `TRUNCATE reservations;
    UPDATE inventory SET on_hand = units, initial_on_hand = units FROM (SELECT product_id AS id, CASE product_id WHEN 10 THEN 10 ELSE 1000000 END AS units FROM inventory) AS seed WHERE id = product_id;
    ${rowsOf(orders).stock}`,
  shipping: `TRUNCATE inbox, "Shipments", parcels; ${rowsOf(orders).shipping}`,
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
  serviceUrl(name: DatabaseName): string;
  /** Everything balances again; metrics as given, or as they should be. */
  reset(reports?: readonly Report[]): Promise<void>;
  /** Adds orders, with all that belongs to them, so that everything still balances. */
  place(orders: readonly LedgerOrder[]): Promise<void>;
  /** Runs SQL as the owner of a database. */
  alter(name: DatabaseName, text: string): Promise<void>;
  /** Puts messages into the queue, or among the dead letters. */
  publish(to: 'queue' | 'dead letters', count: number): Promise<void>;
  audit(options?: Partial<AuditOptions>): Promise<AuditReport>;
}

/** `refusing`: the databases keep their CHECKs, and so refuse impossible rows. */
export async function openLedgerFixture({ refusing = false } = {}): Promise<LedgerFixture> {
  const databases = Object.fromEntries(
    await Promise.all(databaseNames.map(async (name) => [name, await createDatabase(name)] as const)),
  ) as Record<DatabaseName, Awaited<ReturnType<typeof createDatabase>>>;
  const owners = Object.fromEntries(
    databaseNames.map((name) => [name, new pg.Pool({ connectionString: databases[name].ownerUrl, max: 1 })]),
  ) as Record<DatabaseName, pg.Pool>;
  if (!refusing)
    await Promise.all(databaseNames.map((name) => admitImpossibleRows(owners[name], balanced[name] ?? '')));
  const { operatorUrl } = await createBroker();
  const connection: ChannelModel = await amqp.connect(operatorUrl);
  const channel = await connection.createConfirmChannel();
  await declareTopology(channel);
  let telemetry: OtlpReceiver = await startOtlpReceiver({ host: '127.0.0.1', port: 0 });
  const urls = Object.fromEntries(databaseNames.map((name) => [name, databases[name].operatorUrl])) as Record<
    DatabaseName,
    string
  >;
  // The one instance that is meant to run is connected.
  const instance = new pg.Client({ connectionString: databases.orders.url, application_name: 'orders-1' });
  await instance.connect();
  const operator = openShopDatabases(urls);
  const snapshots = keepConnections();

  const target: AuditTarget = {
    databaseUrls: urls,
    databases: operator,
    openSnapshot: snapshots.open,
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
      await Promise.all(databaseNames.map((name) => owners[name].query(balanced[name] ?? '')));
      await channel.purgeQueue(ORDER_CONFIRMED_QUEUE);
      await channel.purgeQueue(DEAD_LETTERS_QUEUE);
      await telemetry.close();
      telemetry = await startOtlpReceiver({ host: '127.0.0.1', port: 0, limits: { staleAfterMs: 30_000 } });
      for (const report of reports) telemetry.metrics.add(metricsData(report), Date.now() - (report.ageMs ?? 0));
    },
    async place(orders) {
      const { orders: own, payments, stock, shipping } = rowsOf(orders);
      await Promise.all([
        owners.orders.query(own),
        owners.payments.query(payments),
        owners.stock.query(stock),
        owners.shipping.query(shipping),
      ]);
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
      await snapshots[Symbol.asyncDispose]();
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

/** Snapshots over connections that are kept, one for each database: a new one takes 20 ms of CPU, and an audit has five. */
function keepConnections(): AsyncDisposable & { open(url: string): Promise<Snapshot> } {
  const clients = new Map<string, pg.Client>();
  const connected = async (url: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    clients.set(url, client);
    return client;
  };
  return {
    async open(url) {
      const client = clients.get(url) ?? (await connected(url));
      return beginSnapshot(client, async () => void (await client.query('ROLLBACK')));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...clients.values()].map((client) => client.end()));
    },
  };
}

/** There is no consumer in these tests, so that all messages are ready. */
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
