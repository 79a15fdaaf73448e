/*
 * Goal: whatever the services have deleted, and in whichever order, the audit finds no violation; one that is there is found
 * meanwhile. Method: orders of every kind and age in real databases, which the services' own roles clear batch by batch with the
 * statements of their retention; an audit after each batch. The databases have all their CHECKs.
 */
import { type Database, openDatabase } from '@shop/kit/database.ts';
import { AUDIT_HORIZON_DAYS, EVENT_KEEP_DAYS, FINANCIAL_KEEP_DAYS } from '@shop/kit/keep-days.ts';
import { createLogger } from '@shop/kit/logger.ts';
import type { PurgeLimits } from '@shop/kit/retention.ts';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AuditReport } from '../../cli/src/audit/audit.ts';
import { ids, type LedgerFixture, openLedgerFixture } from '../../cli/src/audit/testing/ledger-fixture.ts';
import type { LedgerOrder } from '../../cli/src/audit/testing/ledger-rows.ts';
import type { DatabaseName } from '../../cli/src/topology/databases.ts';
import { purgePublished } from '../../services/orders/src/outbox.ts';
import { purgeOrders } from '../../services/orders/src/repository.ts';
import { purgePayments } from '../../services/payments/src/repository.ts';
import { purgeInbox, purgeShipments } from '../../services/shipping/src/repository.ts';
import { purgeReservations } from '../../services/stock/src/repository.ts';
import { START_TIMEOUT_MS } from '../support/infrastructure.ts';

interface Table {
  readonly database: DatabaseName;
  readonly purge: (database: Database, limits: PurgeLimits) => Promise<number>;
  /** The least that its service may be configured with. */
  readonly days: number;
}

const tables = {
  outbox: { database: 'orders', purge: purgePublished, days: EVENT_KEEP_DAYS },
  orders: { database: 'orders', purge: purgeOrders, days: FINANCIAL_KEEP_DAYS },
  payments: { database: 'payments', purge: purgePayments, days: FINANCIAL_KEEP_DAYS },
  reservations: { database: 'stock', purge: purgeReservations, days: FINANCIAL_KEEP_DAYS },
  inbox: { database: 'shipping', purge: purgeInbox, days: EVENT_KEEP_DAYS + 1 },
  shipments: { database: 'shipping', purge: purgeShipments, days: FINANCIAL_KEEP_DAYS },
} as const satisfies Record<string, Table>;
type TableName = keyof typeof tables;
const names = Object.keys(tables) as TableName[];

const logger = createLogger({ service: 'test', instance: 'retention', level: 'silent' });
let ledger: LedgerFixture;
let services: Record<(typeof tables)[TableName]['database'], Database>;
const clients: pg.Client[] = [];

beforeAll(async () => {
  ledger = await openLedgerFixture({ refusing: true });
  const open = (name: DatabaseName) =>
    openDatabase({ url: ledger.serviceUrl(name), poolSize: 1, applicationName: `${name}-retention`, logger });
  services = { orders: open('orders'), payments: open('payments'), stock: open('stock'), shipping: open('shipping') };
}, START_TIMEOUT_MS);
afterAll(async () => {
  await Promise.all(Object.values(services ?? {}).map((database) => database[Symbol.asyncDispose]()));
  await Promise.all(clients.map((client) => client.end()));
  await ledger?.[Symbol.asyncDispose]();
});
beforeEach(() => ledger.reset());

/** One batch of one table. */
async function purgeBatch(name: TableName, limit = 1_000): Promise<number> {
  const { database, purge, days } = tables[name];
  return purge(services[database], { days, limit });
}

const violationsOf = ({ invariants }: AuditReport) =>
  invariants.flatMap(({ id, violations }) => violations.map(({ orderId, detail }) => `${id} ${orderId}: ${detail}`));

async function expectBalance(): Promise<void> {
  const report = await ledger.audit();
  expect(violationsOf(report)).toEqual([]);
  expect(report.verdict).toBe('pass');
}

async function idsIn(database: Table['database'], table: string, column: string): Promise<string[]> {
  const rows = await ledger.target.databases.query<{ id: string }>(
    database,
    `SELECT ${column}::text AS id FROM ${table} ORDER BY 1`,
    [],
  );
  return rows.map(({ id }) => id);
}

const kinds = ['confirmed', 'declined', 'out of stock', 'refunded'] as const;
/** By kind, so that a declined order is above the payment limit and the others are not. */
const goods = {
  confirmed: { productId: 1, priceKopiykas: 45_000 },
  refunded: { productId: 2, priceKopiykas: 18_500 },
  declined: { productId: 12, priceKopiykas: 7_250_000 },
  'out of stock': { productId: 10, priceKopiykas: 860_000 },
} as const;

let numbered = 0;
function anOrder(
  kind: LedgerOrder['kind'],
  times: Omit<LedgerOrder, 'id' | 'kind' | keyof typeof goods.confirmed | 'quantity'>,
) {
  numbered += 1;
  const id = `${numbered.toString(16).padStart(8, '0')}-0000-4000-8000-00000000abcd`;
  return { ...goods[kind], id, kind, quantity: (numbered % 3) + 1, ...times };
}

/** Around every limit, and with ends and effects that came late. */
function ordersOfAllAges(): LedgerOrder[] {
  const ages = [
    { placed: AUDIT_HORIZON_DAYS - 1 },
    { placed: AUDIT_HORIZON_DAYS + 2 },
    { placed: FINANCIAL_KEEP_DAYS - 1 },
    { placed: FINANCIAL_KEEP_DAYS + 1 },
    { placed: FINANCIAL_KEEP_DAYS + 1, ended: FINANCIAL_KEEP_DAYS - 1 },
    {
      placed: FINANCIAL_KEEP_DAYS + 100,
      ended: FINANCIAL_KEEP_DAYS + 40,
      published: FINANCIAL_KEEP_DAYS + 20,
      shipped: 400,
    },
    { placed: 1_500, published: 1_200, shipped: 1_199 },
  ];
  return ages.flatMap((times) => kinds.map((kind) => anOrder(kind, times)));
}

const byService: readonly (readonly TableName[])[] = [
  ['outbox', 'orders'],
  ['payments'],
  ['reservations'],
  ['inbox', 'shipments'],
];

/** Every order in which the services can do what each of them does in its own order. */
function interleavings<T>(lists: readonly (readonly T[])[]): T[][] {
  const open = lists.filter((list) => list.length > 0);
  if (open.length === 0) return [[]];
  return open.flatMap((list) => {
    const rest = open.map((other) => (other === list ? list.slice(1) : other));
    return interleavings(rest).map((later) => [list[0] as T, ...later]);
  });
}

describe('retention', () => {
  it('leaves a ledger that balances after every step, in whichever order services delete', async () => {
    // No service reaches the rows of another one: what is left depends on which steps were done, not on their order.
    const audited = new Set<string>();
    for (const order of interleavings(byService)) {
      const steps = order.map((name, index) => ({
        name,
        done: order
          .slice(0, index + 1)
          .toSorted()
          .join(),
      }));
      if (steps.every(({ done }) => audited.has(done))) continue;
      await ledger.reset();
      await ledger.place(ordersOfAllAges());
      for (const { name, done } of steps) {
        await purgeBatch(name);
        if (!audited.has(done)) await expectBalance();
        audited.add(done);
      }
    }
    expect(audited.size).toBe(3 * 2 * 2 * 3 - 1);
  }, 180_000);

  it('deletes what is older than it is kept, and nothing else', async () => {
    const orders = ordersOfAllAges();
    await ledger.place(orders);
    const [before] = await levels();
    for (const name of names) await purgeBatch(name);
    const kept = orders.filter(({ placed = 0, ended = placed }) => ended < FINANCIAL_KEEP_DAYS).map(({ id }) => id);
    const young = Object.values(ids).filter((id) => id !== ids.unplaced);
    expect(await idsIn('orders', 'orders', 'id')).toEqual([...kept, ...young].sort());
    expect(await idsIn('stock', 'reservations', 'order_id')).toHaveLength(
      orders.filter(({ kind, placed = 0, ended = placed }) => {
        const changed = kind === 'confirmed' || kind === 'out of stock' ? placed : ended;
        return changed < FINANCIAL_KEEP_DAYS;
      }).length + young.length,
    );
    const confirmed = orders.filter(({ kind }) => kind === 'confirmed');
    const gone = confirmed.filter(({ placed = 0 }) => placed > FINANCIAL_KEEP_DAYS);
    const units = gone.reduce((sum, { quantity }) => sum + quantity, 0);
    const [after] = await levels();
    expect(after).toEqual({ onHand: before?.onHand, initial: (before?.initial ?? 0) - units });
    // Effects are appended and never deleted.
    expect(await idsIn('payments', 'payment_effects', 'order_id')).toHaveLength(3 * 7 + 4);
    expect(await idsIn('shipping', 'parcels', 'order_id')).toHaveLength(7 + 2);
  });

  async function levels() {
    return ledger.target.databases.query<{ onHand: number; initial: number }>(
      'stock',
      'SELECT on_hand AS "onHand", initial_on_hand AS initial FROM inventory WHERE product_id = 1',
      [],
    );
  }
});

/** Each with what it adds to or takes from which database, and the invariant that must find it. */
const violations: readonly (readonly [title: string, DatabaseName, text: string, found: string])[] = [
  [
    'a payment that is gone before its time',
    'payments',
    `DELETE FROM payments WHERE order_id = '${ids.confirmed}'`,
    `I4 ${ids.confirmed}`,
  ],
  [
    'a second charge',
    'payments',
    `INSERT INTO payment_effects (order_id, kind, amount_kopiykas, currency) SELECT order_id, kind, amount_kopiykas, currency FROM payment_effects WHERE order_id = '${ids.confirmed}'`,
    `I4 ${ids.confirmed}`,
  ],
  [
    'a charge for an order that was deleted',
    'payments',
    `INSERT INTO payment_effects (order_id, kind, amount_kopiykas, currency) VALUES ('${ids.unplaced}', 'charge', 1, 'UAH')`,
    `I4 ${ids.unplaced}`,
  ],
  [
    'a parcel for an order that was deleted',
    'shipping',
    `INSERT INTO parcels (order_id, lines) VALUES ('${ids.unplaced}', '[]')`,
    `I7 ${ids.unplaced}`,
  ],
  [
    'units that are reserved for no order',
    'stock',
    `INSERT INTO reservations (order_id, reserve_key, state, lines) VALUES ('${ids.alsoConfirmed.replace('2', '9')}', 'k', 'reserved', '[{"productId":3,"quantity":1}]'); UPDATE inventory SET on_hand = on_hand - 1 WHERE product_id = 3`,
    `I5 ${ids.alsoConfirmed.replace('2', '9')}`,
  ],
  ['units that vanished', 'stock', 'UPDATE inventory SET on_hand = on_hand - 1 WHERE product_id = 1', 'I5 undefined'],
  [
    'a shipment that is gone before its time',
    'shipping',
    `DELETE FROM "Shipments" WHERE "OrderId" = '${ids.confirmed}'`,
    `I7 ${ids.confirmed}`,
  ],
  [
    'a message that is forgotten before its time',
    'shipping',
    `DELETE FROM inbox WHERE order_id = '${ids.confirmed}'`,
    `I8 ${ids.confirmed}`,
  ],
  [
    'an order that is gone before its time',
    'orders',
    `DELETE FROM outbox WHERE order_id = '${ids.confirmed}'; DELETE FROM orders WHERE id = '${ids.confirmed}'`,
    `I4 ${ids.confirmed}`,
  ],
];

describe('a violation within the horizon is found before, while and after old rows are deleted', () => {
  it.each(violations)(
    '%s',
    async (_title, database, text, found) => {
      await ledger.reset([{ sagas: { Confirmed: database === 'orders' ? 1 : 2, Cancelled: 3 } }]);
      await ledger.place([...ordersOfAllAges(), { ...anOrder('confirmed', { placed: 900 }), id: ids.unplaced }]);
      await ledger.alter(database, text);
      for (const name of [undefined, ...names]) {
        if (name !== undefined) await purgeBatch(name);
        const first = violationsOf(await ledger.audit()).map((one) => one.split(':')[0]);
        expect(first).toContain(found);
        // One cause may show in several databases, but blames no other order.
        expect(new Set(first.map((one) => one?.split(' ')[1]))).toEqual(new Set([found.split(' ')[1]]));
      }
    },
    60_000,
  );
});

it('never deletes what has not ended, and the audit still reports it', async () => {
  const open = '90000000-0000-4000-8000-000000000009';
  await ledger.alter(
    'orders',
    `INSERT INTO orders (id, customer, lines, total_kopiykas, currency, state, owner, created_at, updated_at)
     VALUES ('${open}', 'Test', '[{"productId":1,"quantity":1,"priceKopiykas":45000}]', 45000, 'UAH', 'Started', gen_random_uuid(), now() - interval '3000 days', now() - interval '3000 days')`,
  );
  await ledger.alter(
    'payments',
    `INSERT INTO payments (order_id, charge_key, amount_kopiykas, currency, state, created_at, updated_at)
     VALUES ('${open}', 'k', 45000, 'UAH', 'attempted', now() - interval '3000 days', now() - interval '3000 days')`,
  );
  const waiting = anOrder('confirmed', { placed: 2_000 });
  await ledger.place([waiting]);
  await ledger.alter('orders', `UPDATE outbox SET published_at = NULL WHERE order_id = '${waiting.id}'`);
  for (const name of names) await purgeBatch(name);
  expect(await idsIn('orders', 'orders', 'id')).toEqual(expect.arrayContaining([open, waiting.id]));
  expect(await idsIn('payments', 'payments', 'order_id')).toContain(open);
  const found = violationsOf(await ledger.audit()).map((one) => one.split(':')[0]);
  expect(found).toEqual(expect.arrayContaining([`I1 ${open}`, `I6 ${waiting.id}`]));
});

it('passes over rows that another transaction has locked', async () => {
  const orders = kinds.map((kind) => anOrder(kind, { placed: 1_000 }));
  await ledger.place(orders);
  const other = new pg.Client(ledger.serviceUrl('payments'));
  clients.push(other);
  await other.connect();
  await other.query(`BEGIN; SELECT FROM payments WHERE order_id = '${orders[0]?.id}' FOR UPDATE`);
  expect(await purgeBatch('payments')).toBe(2);
  await other.query('ROLLBACK');
  expect(await purgeBatch('payments')).toBe(1);
});

describe('the scope of an audit', () => {
  it('that is one order of before the horizon says that its rows may be deleted', async () => {
    const [old] = [anOrder('confirmed', { placed: 500 })];
    await ledger.place([old]);
    const report = await ledger.audit({ scope: { orderId: old.id } });
    expect(report).toMatchObject({ verdict: 'unknown', orders: 1, beyondHorizon: 1 });
    const unknown = report.invariants.filter(({ verdict }) => verdict === 'unknown').map(({ id }) => id);
    expect(unknown).toEqual(['I4', 'I5', 'I7', 'I8', 'I15']);
  });

  it('that is everything counts the orders of before the horizon, and none that is deleted', async () => {
    await ledger.place([anOrder('confirmed', { placed: 500 }), anOrder('confirmed', { placed: 1_000 })]);
    for (const name of names) await purgeBatch(name);
    expect(await ledger.audit()).toMatchObject({ verdict: 'pass', orders: 6, beyondHorizon: 1 });
  });
});

describe('random orders of random ages', () => {
  const day = (max: number) => fc.integer({ min: 0, max: max * 10 }).map((tenths) => tenths / 10);
  /** What happens late happens at most a year later; the last of it 0.1 days ago, before the telemetry of the fixture began. */
  const times = fc
    .record({ placed: day(1_500), untilEnd: day(20), untilPublished: day(20), untilShipped: day(300) })
    .map(({ placed, untilEnd, untilPublished, untilShipped }) => {
      const ended = Math.max(0.2, placed - untilEnd);
      const published = Math.max(0.15, ended - untilPublished);
      return { placed: placed + 0.3, ended, published, shipped: Math.max(0.1, published - untilShipped) };
    });
  const orders = fc.array(fc.tuple(fc.constantFrom(...kinds), times), { minLength: 1, maxLength: 15 });
  const batches = fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom(1, 3, 1_000)), {
    minLength: 1,
    maxLength: 12,
  });

  it('balance after every batch of every table, in any order', async () => {
    await fc.assert(
      fc.asyncProperty(orders, batches, async (specs, purges) => {
        await ledger.reset();
        await ledger.place(specs.map(([kind, own]) => anOrder(kind, own)));
        for (const [name, limit] of purges) {
          await purgeBatch(name, limit);
          await expectBalance();
        }
      }),
      { numRuns: 12, endOnFailure: true },
    );
  }, 180_000);
});
