/**
 * Goal: the audit finds every violation, blames the right invariant and names the order. Method: a balanced ledger in
 * real databases, broker and telemetry store; each case makes one change as the databases' owner and audits.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import { exitCodeOf } from '../shared/verdict.ts';
import type { AuditReport } from './audit.ts';
import { auditBaseline, type Baseline, describeBaseline, sinceBaseline } from './baseline.ts';
import { ids, type LedgerFixture, openLedgerFixture } from './testing/ledger-fixture.ts';
import { messageOf } from './testing/ledger-rows.ts';

let ledger: LedgerFixture;
let folder: string;

beforeAll(async () => {
  ledger = await openLedgerFixture();
  folder = await mkdtemp(join(tmpdir(), 'shop-audit-'));
}, START_TIMEOUT_MS);
afterAll(async () => {
  await ledger?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => ledger.reset());

const violatedOf = ({ invariants }: AuditReport) =>
  invariants.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);
const violationsOf = ({ invariants }: AuditReport) => invariants.flatMap(({ violations }) => violations);

describe('a ledger that balances', () => {
  it('is ok, with counts and sums as evidence', async () => {
    const report = await ledger.audit();
    expect(report).toMatchObject({ verdict: 'pass', orders: 5, settled: true });
    expect(exitCodeOf(report.verdict)).toBe(0);
    const evidence = Object.fromEntries(report.invariants.map((result) => [result.id, result.evidence]));
    expect(evidence).toMatchObject({
      I1: '5 orders: 2 Confirmed, 3 Cancelled, 0 open',
      I4: '2 Confirmed for 2,150.00 UAH, 2 charges of 2,150.00 UAH, 4 charges and refunds made',
      I5: '3 units confirmed, 3 held by 2 reservations, 12 products add up',
      I6: '2 Confirmed, 2 events, 0 unpublished',
      I7: '2 Confirmed, 2 shipments, 2 parcels',
      I8: '2 messages for 2 shipments',
      I15: '5 lines of 5 orders, 12 prices of 12 products',
      I9: '0 ready, 0 unacknowledged, 0 dead letters',
      I11: 'shop.sagas Confirmed 2 of 2, shop.sagas Cancelled 3 of 3, outbox.pending 0 of 0, 1 processes',
    });
  });

  it('says that I2 and I3 are skipped without a history, and I14 without a supervisor', async () => {
    const { invariants } = await ledger.audit();
    const skipped = invariants.filter(({ verdict }) => verdict === 'skipped').map(({ id }) => id);
    expect(skipped).toEqual(['I2', 'I3', 'I14']);
  });
});

const newOrder = `INSERT INTO orders (id, customer, lines, total_kopiykas, currency, state, owner, created_at)
  VALUES ('${ids.unplaced}', 'Test', '[{"productId":1,"quantity":1,"priceKopiykas":45000}]', 45000, 'UAH', 'Started', gen_random_uuid(), `;

/** What is changed, where, which invariant must find it (and none else), in which word, about which order. */
const corruptions = [
  [
    'a saga that is open for a minute',
    'orders',
    `${newOrder} now() - interval '1 minute')`,
    'I1',
    'stuck',
    ids.unplaced,
  ],
  [
    'a Confirmed order with a reason',
    'orders',
    `UPDATE orders SET reason = 'out of stock' WHERE id = '${ids.confirmed}'`,
    'I1',
    'wrong',
    ids.confirmed,
  ],
  [
    'a Cancelled order without a reason',
    'orders',
    `UPDATE orders SET reason = NULL WHERE id = '${ids.refunded}'`,
    'I1',
    'wrong',
    ids.refunded,
  ],
  [
    'a Confirmed order without a payment',
    'payments',
    `DELETE FROM payments WHERE order_id = '${ids.confirmed}'`,
    'I4',
    'lost',
    ids.confirmed,
  ],
  [
    'a Confirmed order whose payment was refunded',
    'payments',
    `UPDATE payments SET state = 'refunded' WHERE order_id = '${ids.confirmed}'`,
    'I4',
    'lost',
    ids.confirmed,
  ],
  [
    'a charge of another amount',
    'payments',
    `UPDATE payments SET amount_kopiykas = 1 WHERE order_id = '${ids.confirmed}'`,
    'I4',
    'wrong',
    ids.confirmed,
  ],
  [
    'a charge in another currency',
    'payments',
    `UPDATE payments SET currency = 'EUR' WHERE order_id = '${ids.confirmed}'`,
    'I4',
    'wrong',
    ids.confirmed,
  ],
  [
    'a second payment',
    'payments',
    `ALTER TABLE payments DROP CONSTRAINT payments_pkey, DROP CONSTRAINT payments_charge_key_key; INSERT INTO payments SELECT * FROM payments WHERE order_id = '${ids.confirmed}'`,
    'I4',
    'duplicated',
    ids.confirmed,
  ],
  [
    'a Cancelled order that stays charged',
    'payments',
    `UPDATE payments SET state = 'accepted' WHERE order_id = '${ids.refunded}'`,
    'I4',
    'unexpected',
    ids.refunded,
  ],
  [
    'a Cancelled order whose charge was left open',
    'payments',
    `UPDATE payments SET state = 'attempted' WHERE order_id = '${ids.refunded}'`,
    'I4',
    'unexpected',
    ids.refunded,
  ],
  [
    'a declined order without the refusal',
    'payments',
    `DELETE FROM payments WHERE order_id = '${ids.declined}'`,
    'I4',
    'wrong',
    ids.declined,
  ],
  [
    'a payment without an order',
    'payments',
    `INSERT INTO payments (order_id, charge_key, amount_kopiykas, currency, state) VALUES ('${ids.unplaced}', 'k', 1, 'UAH', 'accepted')`,
    'I4',
    'unexpected',
    ids.unplaced,
  ],
  [
    'a second charge, the payment written once',
    'payments',
    `INSERT INTO payment_effects (order_id, kind, amount_kopiykas, currency) SELECT order_id, kind, amount_kopiykas, currency FROM payment_effects WHERE order_id = '${ids.confirmed}'`,
    'I4',
    'duplicated',
    ids.confirmed,
  ],
  [
    'a charge for no order',
    'payments',
    `INSERT INTO payment_effects (order_id, kind, amount_kopiykas, currency) VALUES ('${ids.unplaced}', 'charge', 1, 'UAH')`,
    'I4',
    'unexpected',
    ids.unplaced,
  ],
  [
    'a total that is not the sum of the lines',
    'orders',
    `UPDATE orders SET total_kopiykas = total_kopiykas + 1 WHERE id = '${ids.declined}'`,
    'I4',
    'wrong',
    ids.declined,
  ],
  [
    'an order at another price than the catalog had when it was placed',
    'catalog',
    `INSERT INTO product_prices VALUES (1, 44000, 'UAH', now() - interval '2 hours')`,
    'I15',
    'wrong',
    ids.confirmed,
  ],
  [
    'an order in another currency than the product has',
    'catalog',
    `UPDATE product_prices SET currency = 'EUR' WHERE product_id = 5`,
    'I15',
    'wrong',
    ids.alsoConfirmed,
  ],
  [
    'an order of a product that the catalog never had',
    'catalog',
    'DELETE FROM product_prices WHERE product_id = 10',
    'I15',
    'wrong',
    ids.outOfStock,
  ],
  [
    'a Confirmed order without a reservation',
    'stock',
    `DELETE FROM reservations WHERE order_id = '${ids.confirmed}'; UPDATE inventory SET on_hand = initial_on_hand WHERE product_id = 1`,
    'I5',
    'lost',
    ids.confirmed,
  ],
  [
    'a reservation of other units',
    'stock',
    `UPDATE reservations SET lines = '[{"productId":1,"quantity":1}]' WHERE order_id = '${ids.confirmed}'; UPDATE inventory SET on_hand = on_hand + 1 WHERE product_id = 1`,
    'I5',
    'wrong',
    ids.confirmed,
  ],
  [
    'a Cancelled order that keeps its units',
    'stock',
    `UPDATE reservations SET state = 'reserved', released_at = NULL WHERE order_id = '${ids.refunded}'; UPDATE inventory SET on_hand = on_hand - 3 WHERE product_id = 2`,
    'I5',
    'unexpected',
    ids.refunded,
  ],
  [
    'a reservation without an order',
    'stock',
    `INSERT INTO reservations (order_id, reserve_key, state, lines) VALUES ('${ids.unplaced}', 'k', 'reserved', '[{"productId":3,"quantity":1}]'); UPDATE inventory SET on_hand = on_hand - 1 WHERE product_id = 3`,
    'I5',
    'unexpected',
    ids.unplaced,
  ],
  [
    'units that vanished',
    'stock',
    `UPDATE inventory SET on_hand = on_hand - 1 WHERE product_id = 7`,
    'I5',
    'lost',
    undefined,
  ],
  [
    'units from nowhere',
    'stock',
    `UPDATE inventory SET on_hand = on_hand + 1 WHERE product_id = 1`,
    'I5',
    'unexpected',
    undefined,
  ],
  [
    'less than nothing on hand',
    'stock',
    `UPDATE inventory SET on_hand = -1 WHERE product_id = 9`,
    'I5',
    'wrong',
    undefined,
  ],
  [
    'a Confirmed order without an event',
    'orders',
    `DELETE FROM outbox WHERE order_id = '${ids.confirmed}'`,
    'I6',
    'lost',
    ids.confirmed,
  ],
  [
    'an event for a Cancelled order',
    'orders',
    `UPDATE outbox SET order_id = '${ids.declined}', type = 'order.confirmed' WHERE false; INSERT INTO outbox (id, order_id, type, payload, published_at) VALUES (gen_random_uuid(), '${ids.declined}', 'order.confirmed', '{}', now())`,
    'I6',
    'unexpected',
    ids.declined,
  ],
  [
    'an event for no order',
    'orders',
    `INSERT INTO outbox (id, order_id, type, payload, published_at) VALUES (gen_random_uuid(), '${ids.unplaced}', 'order.confirmed', '{}', now())`,
    'I6',
    'unexpected',
    ids.unplaced,
  ],
  [
    'an event twice',
    'orders',
    `ALTER TABLE outbox DROP CONSTRAINT outbox_order_id_type_key; INSERT INTO outbox (id, order_id, type, payload, "TraceParent", published_at) SELECT gen_random_uuid(), order_id, type, payload, "TraceParent", published_at FROM outbox WHERE order_id = '${ids.confirmed}'`,
    'I6',
    'duplicated',
    ids.confirmed,
  ],
  [
    'an event about another order',
    'orders',
    `UPDATE outbox SET payload = jsonb_set(payload, '{data,orderId}', '"${ids.declined}"') WHERE order_id = '${ids.confirmed}'`,
    'I6',
    'wrong',
    ids.confirmed,
  ],
  [
    'an event with another total',
    'orders',
    `UPDATE outbox SET payload = jsonb_set(payload, '{data,total}', '1') WHERE order_id = '${ids.confirmed}'`,
    'I6',
    'wrong',
    ids.confirmed,
  ],
  [
    'an event about other lines',
    'orders',
    `UPDATE outbox SET payload = jsonb_set(payload, '{data,lines,0,quantity}', '3') WHERE order_id = '${ids.confirmed}'`,
    'I6',
    'wrong',
    ids.confirmed,
  ],
  [
    'a payment that was declined within the limit',
    'payments',
    `UPDATE payments SET amount_kopiykas = 5000000 WHERE order_id = '${ids.declined}'`,
    'I4',
    'wrong',
    ids.declined,
  ],
  [
    'an event in another trace',
    'orders',
    `UPDATE outbox SET "TraceParent" = '00-ffffffffffffffffffffffffffffffff-00f067aa0ba902b7-01' WHERE order_id = '${ids.confirmed}'`,
    'I6',
    'wrong',
    ids.confirmed,
  ],
  [
    'a Confirmed order without a shipment',
    'shipping',
    `DELETE FROM "Shipments" WHERE "OrderId" = '${ids.confirmed}'`,
    'I7',
    'lost',
    ids.confirmed,
  ],
  [
    'a shipment for a Cancelled order',
    'shipping',
    `INSERT INTO "Shipments" ("OrderId") VALUES ('${ids.declined}'); INSERT INTO inbox (message_id, type, order_id) VALUES (gen_random_uuid(), 'order.confirmed', '${ids.declined}')`,
    'I7',
    'unexpected',
    ids.declined,
  ],
  [
    'a shipment for no order',
    'shipping',
    `INSERT INTO "Shipments" ("OrderId") VALUES ('${ids.unplaced}'); INSERT INTO inbox (message_id, type, order_id) VALUES (gen_random_uuid(), 'order.confirmed', '${ids.unplaced}')`,
    'I7',
    'unexpected',
    ids.unplaced,
  ],
  [
    'two shipments',
    'shipping',
    `ALTER TABLE "Shipments" DROP CONSTRAINT "Shipments_OrderId_key"; INSERT INTO "Shipments" ("OrderId") VALUES ('${ids.confirmed}')`,
    'I7',
    'duplicated',
    ids.confirmed,
  ],
  [
    'a shipment of other units',
    'shipping',
    `UPDATE "Shipments" SET "Lines" = '[{"productId":1,"quantity":3}]' WHERE "OrderId" = '${ids.confirmed}'`,
    'I7',
    'wrong',
    ids.confirmed,
  ],
  [
    'a second parcel, the shipment written once',
    'shipping',
    `INSERT INTO parcels (order_id, lines) SELECT order_id, lines FROM parcels WHERE order_id = '${ids.confirmed}'`,
    'I7',
    'duplicated',
    ids.confirmed,
  ],
  [
    'a message that was taken twice',
    'shipping',
    `ALTER TABLE inbox DROP CONSTRAINT inbox_pkey; INSERT INTO inbox SELECT * FROM inbox WHERE order_id = '${ids.confirmed}'`,
    'I8',
    'duplicated',
    ids.confirmed,
  ],
  [
    'a message that was never published',
    'shipping',
    `UPDATE inbox SET message_id = gen_random_uuid() WHERE order_id = '${ids.confirmed}'`,
    'I8',
    'unexpected',
    ids.confirmed,
  ],
  [
    'a message about no order',
    'shipping',
    `INSERT INTO inbox (message_id, type, order_id) VALUES (gen_random_uuid(), 'order.confirmed', '${ids.unplaced}')`,
    'I8',
    'unexpected',
    ids.unplaced,
  ],
  [
    'a shipment that no message asked for',
    'shipping',
    `DELETE FROM inbox WHERE message_id = '${messageOf(ids.confirmed)}'`,
    'I8',
    'lost',
    ids.confirmed,
  ],
] as const;

describe('a corrupted row is found by exactly one invariant, which names the order', () => {
  it.each(corruptions)('%s', async (_title, database, text, invariant, kind, orderId) => {
    await ledger.alter(database, text);
    const report = await ledger.audit();
    expect(violatedOf(report)).toEqual([invariant]);
    expect(violationsOf(report)).toMatchObject([orderId === undefined ? { kind } : { kind, orderId }]);
    expect(exitCodeOf(report.verdict)).toBe(1);
  });

  it('an event that was never published, and a gauge that says so', async () => {
    await ledger.reset([{ sagas: { Confirmed: 2, Cancelled: 3 }, pending: 1 }]);
    await ledger.alter('orders', `UPDATE outbox SET published_at = NULL WHERE order_id = '${ids.confirmed}'`);
    const report = await ledger.audit();
    expect(violatedOf(report)).toEqual(['I6']);
    expect(violationsOf(report)).toMatchObject([{ kind: 'stuck', orderId: ids.confirmed }]);
  });

  it('a second version of an event that says another total', async () => {
    const second = (amount: number) =>
      `DELETE FROM outbox WHERE type = 'order.confirmed.v2'; INSERT INTO outbox (id, order_id, type, payload, "TraceParent", created_at, published_at)
       SELECT '${ids.unplaced}', order_id, 'order.confirmed.v2', payload || '{"id":"${ids.unplaced}","type":"order.confirmed.v2"}' || jsonb_build_object('data',
         payload -> 'data' || '{"total":{"amount":${amount},"currency":"UAH"},"lines":[{"productId":1,"quantity":2,"unitPrice":45000}]}'), "TraceParent", created_at, published_at
       FROM outbox WHERE order_id = '${ids.confirmed}'`;
    await ledger.alter('orders', second(90_000));
    expect((await ledger.audit()).verdict).toBe('pass');
    await ledger.alter('orders', second(90_001));
    const report = await ledger.audit();
    expect(violatedOf(report)).toEqual(['I6']);
    expect(violationsOf(report)).toMatchObject([
      { kind: 'wrong', detail: 'total is 90000, its order.confirmed.v2 says 90001' },
    ]);
  });

  it('an order above the payment limit that was confirmed and charged', async () => {
    const lines = (price: string) => `'[{"productId":12,"quantity":1${price}}]'`;
    await ledger.alter(
      'orders',
      `UPDATE orders SET total_kopiykas = 7250000, lines = ${lines(',"priceKopiykas":7250000')} WHERE id = '${ids.confirmed}';
       UPDATE outbox SET payload = jsonb_set(jsonb_set(payload, '{data,total}', '7250000'), '{data,lines}', ${lines('')}) WHERE order_id = '${ids.confirmed}'`,
    );
    await ledger.alter(
      'payments',
      `UPDATE payments SET amount_kopiykas = 7250000 WHERE order_id = '${ids.confirmed}';
       UPDATE payment_effects SET amount_kopiykas = 7250000 WHERE order_id = '${ids.confirmed}'`,
    );
    await ledger.alter(
      'stock',
      `UPDATE reservations SET lines = ${lines('')} WHERE order_id = '${ids.confirmed}';
       UPDATE inventory SET on_hand = initial_on_hand - CASE product_id WHEN 12 THEN 1 ELSE 0 END WHERE product_id IN (1, 12)`,
    );
    await ledger.alter(
      'shipping',
      `UPDATE "Shipments" SET "Lines" = ${lines('')} WHERE "OrderId" = '${ids.confirmed}';
       UPDATE parcels SET lines = ${lines('')} WHERE order_id = '${ids.confirmed}'`,
    );
    const report = await ledger.audit();
    expect(violatedOf(report)).toEqual(['I4']);
    expect(violationsOf(report)).toMatchObject([{ kind: 'wrong', orderId: ids.confirmed }]);
  });
});

describe('a price that changes', () => {
  it.each([
    ['after the order was placed', '1 minute', []],
    ['while the order was placed: it may have been read before', '1 hour', []],
    ['before the order was placed', '61 minutes', ['I15']],
  ])('%s', async (_title, ago, violated) => {
    await ledger.alter('catalog', `INSERT INTO product_prices VALUES (1, 44000, 'UAH', now() - interval '${ago}')`);
    expect(violatedOf(await ledger.audit())).toEqual(violated);
  });

  it('is recorded by the database, whatever changes it', async () => {
    await ledger.alter('catalog', 'UPDATE products SET price_kopiykas = price_kopiykas + 1 WHERE id = 1');
    await ledger.alter('catalog', 'UPDATE products SET price_kopiykas = price_kopiykas - 1 WHERE id = 1');
    expect((await ledger.audit()).invariants.find(({ id }) => id === 'I15')?.evidence).toContain('14 prices');
  });
});

describe('work in flight is not a violation while it has time', () => {
  it('a saga that began just now', async () => {
    await ledger.alter('orders', `${newOrder} now())`);
    const report = await ledger.audit();
    expect(report).toMatchObject({ verdict: 'pass', settled: false, waitingFor: '1 open sagas' });
    expect(report.invariants.find(({ id }) => id === 'I1')?.inFlight).toBe(1);
  });

  it('a shipment has 15 s while messages are on their way, and none once the queue is empty', async () => {
    await ledger.alter('orders', `UPDATE outbox SET published_at = now() WHERE order_id = '${ids.confirmed}'`);
    await ledger.alter(
      'shipping',
      `DELETE FROM "Shipments" WHERE "OrderId" = '${ids.confirmed}'; DELETE FROM inbox WHERE order_id = '${ids.confirmed}'`,
    );
    await ledger.publish('queue', 1);
    expect((await ledger.audit()).verdict).toBe('pass');
    await ledger.reset();
    await ledger.alter('orders', `UPDATE outbox SET published_at = now() WHERE order_id = '${ids.confirmed}'`);
    await ledger.alter(
      'shipping',
      `DELETE FROM "Shipments" WHERE "OrderId" = '${ids.confirmed}'; DELETE FROM inbox WHERE order_id = '${ids.confirmed}'`,
    );
    expect(violatedOf(await ledger.audit())).toEqual(['I7']);
  });

  it('is waited for until it has ended', async () => {
    await ledger.alter('orders', `${newOrder} now())`);
    const auditing = ledger.audit({ settleMs: 10_000 });
    await ledger.alter('orders', `DELETE FROM orders WHERE id = '${ids.unplaced}'`);
    await expect(auditing).resolves.toMatchObject({ verdict: 'pass', settled: true });
  });
});

describe('queues', () => {
  it('a message without a consumer is found', async () => {
    await ledger.publish('queue', 2);
    const report = await ledger.audit();
    expect(violatedOf(report)).toEqual(['I9']);
    expect(violationsOf(report)[0]).toMatchObject({ kind: 'stuck', detail: expect.stringContaining('2 messages') });
  });

  it('messages without a consumer are not excused by events that were published just now and received', async () => {
    await ledger.alter('orders', 'UPDATE outbox SET published_at = now()');
    await ledger.publish('queue', 2);
    const report = await ledger.audit();
    expect(violatedOf(report)).toEqual(['I9']);
    expect(violationsOf(report)[0]?.detail).toContain('0 may be on their way');
  });

  it('messages that came after everything had settled are excused by younger orders only', async () => {
    await ledger.alter('orders', 'UPDATE outbox SET published_at = now()');
    await ledger.alter('shipping', 'DELETE FROM inbox');
    const looks = [0, 2].map((ready) => [
      { name: 'shipping.order-confirmed', ready, unacknowledged: 0, consumers: 1 },
      { name: 'shipping.dead-letters', ready: 0, unacknowledged: 0, consumers: 0 },
    ]);
    const target = { ...ledger.target, queues: async () => looks.shift() ?? [] };
    expect(violatedOf(await ledger.audit({ target }))).toContain('I9');
  });

  it('a dead letter is found, unless it was injected on purpose', async () => {
    await ledger.publish('dead letters', 1);
    expect(violatedOf(await ledger.audit())).toEqual(['I9']);
    expect((await ledger.audit({ deadLetters: 1 })).verdict).toBe('pass');
    expect(violatedOf(await ledger.audit({ deadLetters: 2 }))).toEqual(['I9']);
  });
});

describe('metrics', () => {
  it.each([
    ['counted too much', { sagas: { Confirmed: 3, Cancelled: 3 } }, 'unexpected'],
    ['counted too little', { sagas: { Confirmed: 1, Cancelled: 3 } }, 'lost'],
    [
      'a histogram with fewer values',
      { sagas: { Confirmed: 2, Cancelled: 3 }, durations: { Confirmed: 2, Cancelled: 2 } },
      'wrong',
    ],
    ['durations that belong to no order', { sagas: { Confirmed: 2, Cancelled: 3 }, durationMs: 25_000 }, 'wrong'],
    ['a gauge that is not the number of rows', { sagas: { Confirmed: 2, Cancelled: 3 }, pending: 4 }, 'wrong'],
  ])(
    '%s is found',
    async (_title, report, kind) => {
      await ledger.reset([report]);
      const result = await ledger.audit();
      expect(violatedOf(result)).toEqual(['I11']);
      expect(violationsOf(result)).toMatchObject([{ kind }]);
    },
    15_000,
  );

  it('a gauge that is 0 while a row waits is found', async () => {
    await ledger.alter('orders', `UPDATE outbox SET published_at = NULL WHERE order_id = '${ids.confirmed}'`);
    const result = await ledger.audit();
    expect(violatedOf(result)).toEqual(['I6', 'I11']);
    expect(violationsOf(result)[1]?.detail).toBe('orders-1 (1): shop.outbox.pending is 0, 1 rows are unpublished');
  }, 15_000);

  it('adds up the processes that ended and those that run', async () => {
    await ledger.reset([
      { pid: 1, sagas: { Confirmed: 1, Cancelled: 3 }, ageMs: 3_000_000 },
      { pid: 2, sagas: { Confirmed: 1, Cancelled: 0 } },
    ]);
    expect((await ledger.audit()).verdict).toBe('pass');
  });

  it('what a killed process may have taken with it is unknown, not a pass', async () => {
    await ledger.reset([
      { pid: 1, sagas: { Confirmed: 0, Cancelled: 3 }, ageMs: 3_600_500 },
      { pid: 2, sagas: { Confirmed: 1, Cancelled: 0 } },
    ]);
    const report = await ledger.audit();
    expect(report.verdict).toBe('unknown');
    expect(exitCodeOf(report.verdict)).toBe(5);
  }, 15_000);

  it('without reports they are unknown', async () => {
    await ledger.reset([]);
    const report = await ledger.audit();
    expect(report.invariants.find(({ id }) => id === 'I11')).toMatchObject({
      verdict: 'unknown',
      evidence: expect.stringContaining('orders-1 does not report'),
    });
  }, 15_000);
});

describe('sessions', () => {
  it('a transaction that stays open is found', async () => {
    const client = new pg.Client({ connectionString: ledger.serviceUrl('orders'), application_name: 'orders-1' });
    await client.connect();
    await client.query('BEGIN');
    const report = await ledger.audit();
    await client.end();
    expect(violatedOf(report)).toEqual(['I13']);
    expect(violationsOf(report)).toMatchObject([{ kind: 'stuck', detail: expect.stringContaining('orders-1') }]);
  }, 15_000);

  it('more connections than the pool has are found', async () => {
    const pool = new pg.Pool({ connectionString: ledger.serviceUrl('stock'), application_name: 'stock-1', max: 5 });
    const clients = await Promise.all(Array.from({ length: 5 }, () => pool.connect()));
    const report = await ledger.audit();
    for (const client of clients) client.release();
    await pool.end();
    expect(violatedOf(report)).toEqual(['I13']);
    expect(violationsOf(report)[0]?.detail).toContain('5 connections');
  }, 15_000);

  it('are compared with the pools that the platform was started with', async () => {
    const connect = (count: number) =>
      Array.from({ length: count }, async () => {
        const client = new pg.Client({ connectionString: ledger.serviceUrl('stock'), application_name: 'stock-1' });
        await client.connect();
        return client;
      });
    const clients = await Promise.all(connect(5));
    const auditWith = (databasePoolSize: number) => ledger.audit({ target: { ...ledger.target, databasePoolSize } });
    expect(violatedOf(await auditWith(5))).toEqual([]);
    const spoilt = await auditWith(4);
    await Promise.all(clients.map((client) => client.end()));
    expect(violatedOf(spoilt)).toEqual(['I13']);
    expect(violationsOf(spoilt)[0]?.detail).toContain('its pool has 4');
  }, 15_000);
});

describe('the responses of clients', () => {
  const history = async (...entries: readonly object[]) => {
    const file = join(folder, 'history.ndjson');
    await writeFile(file, entries.map((entry) => JSON.stringify(entry)).join('\n'));
    return file;
  };
  const reported = (orderId: string, status: string) => ({ orderId, status });
  const all = [
    reported(ids.confirmed, 'Confirmed'),
    reported(ids.alsoConfirmed, 'Confirmed'),
    reported(ids.declined, 'Cancelled'),
    reported(ids.outOfStock, 'Cancelled'),
    reported(ids.refunded, 'Cancelled'),
  ];

  it('is all true and complete', async () => {
    expect((await ledger.audit({ historyFile: await history(...all) })).verdict).toBe('pass');
  });

  it('an acknowledged order that is not there is lost', async () => {
    const report = await ledger.audit({ historyFile: await history(...all, reported(ids.unplaced, 'Confirmed')) });
    expect(violatedOf(report)).toEqual(['I2']);
    expect(violationsOf(report)).toMatchObject([{ kind: 'lost', orderId: ids.unplaced }]);
  });

  it('a status that flipped is wrong', async () => {
    const report = await ledger.audit({
      historyFile: await history(...all.slice(1), reported(ids.confirmed, 'Cancelled')),
    });
    expect(violatedOf(report)).toEqual(['I2']);
    expect(violationsOf(report)).toMatchObject([{ kind: 'wrong', orderId: ids.confirmed }]);
  });

  it('an order without a request is unexpected', async () => {
    const report = await ledger.audit({ historyFile: await history(...all.slice(1)) });
    expect(violatedOf(report)).toEqual(['I3']);
    expect(violationsOf(report)).toMatchObject([{ kind: 'unexpected', orderId: ids.confirmed }]);
  });

  it('an order whose client got no response is recovered, which is not a violation', async () => {
    const report = await ledger.audit({ historyFile: await history(...all.slice(1), { status: 'unknown' }) });
    expect(report.verdict).toBe('pass');
    expect(violationsOf(report)).toMatchObject([{ kind: 'recovered', orderId: ids.confirmed }]);
  });

  it('a file that cannot be read is a usage error that names the line', async () => {
    const file = join(folder, 'broken.ndjson');
    await writeFile(file, '{"orderId":"x"}\nnonsense\n');
    await expect(ledger.audit({ historyFile: file })).rejects.toMatchObject({
      exitCode: 2,
      why: expect.stringContaining('line 2'),
    });
  });
});

describe('the scope', () => {
  it('of one order sees that order only', async () => {
    await ledger.alter('payments', `DELETE FROM payments WHERE order_id = '${ids.confirmed}'`);
    expect((await ledger.audit({ scope: { orderId: ids.alsoConfirmed } })).verdict).toBe('pass');
    expect(violatedOf(await ledger.audit({ scope: { orderId: ids.confirmed } }))).toEqual(['I4']);
  });

  it('of an order that does not exist is an error', async () => {
    await expect(ledger.audit({ scope: { orderId: ids.unplaced } })).rejects.toMatchObject({ exitCode: 1 });
  });

  it('since a time leaves older orders out, and what belongs to them', async () => {
    await ledger.alter(
      'payments',
      `DELETE FROM payments WHERE order_id = '${ids.confirmed}'; UPDATE payments SET created_at = now()`,
    );
    const report = await ledger.audit({ scope: { sinceMs: Date.now() - 60_000 } });
    expect(violatedOf(report)).toEqual([]);
    // Nothing was looked at, so nothing was seen to balance.
    expect(report).toMatchObject({ verdict: 'unknown', orders: 0 });
    expect(report.invariants[0]).toMatchObject({ id: 'I1', evidence: 'no order was placed in that time' });
  });
});

describe('what was wrong before a run', () => {
  const orphan = (id: string) =>
    `INSERT INTO payments (order_id, charge_key, amount_kopiykas, currency, state) VALUES ('${id}', '${id}', 1, 'UAH', 'accepted')`;
  const other = '70000000-0000-4000-8000-000000000007';
  const afterwards = async (before: Baseline) => sinceBaseline(await ledger.audit(), before);
  const resultOf = ({ invariants }: AuditReport, id: string) => invariants.find((result) => result.id === id);

  it('is distinguished and not held against the run, what came with it is', async () => {
    await ledger.alter('payments', orphan(ids.unplaced));
    const before = await auditBaseline(ledger.target);
    expect(describeBaseline(before)).toBe('I4 money charged equals orders confirmed (1 violation)');
    const clean = await afterwards(before);
    expect(clean.verdict).toBe('pass');
    expect(resultOf(clean, 'I4')).toMatchObject({
      verdict: 'pass',
      violations: [],
      preExisting: [{ orderId: ids.unplaced }],
      evidence: expect.stringContaining('1 violation from before'),
    });
    await ledger.alter('payments', orphan(other));
    const spoilt = await afterwards(before);
    expect(violatedOf(spoilt)).toEqual(['I4']);
    expect(violationsOf(spoilt)).toMatchObject([{ orderId: other }]);
  });

  it('a sum that is otherwise wrong afterwards is unknown', async () => {
    await ledger.alter('stock', 'UPDATE inventory SET on_hand = on_hand - 1 WHERE product_id = 7');
    const before = await auditBaseline(ledger.target);
    expect((await afterwards(before)).verdict).toBe('pass');
    await ledger.alter('stock', 'UPDATE inventory SET on_hand = on_hand - 1 WHERE product_id = 7');
    expect(resultOf(await afterwards(before), 'I5')).toMatchObject({
      verdict: 'unknown',
      evidence: expect.stringContaining('otherwise wrong than before: product 7'),
    });
    await ledger.alter('stock', 'UPDATE inventory SET on_hand = on_hand - 1 WHERE product_id = 8');
    expect(violationsOf(await afterwards(before))).toMatchObject([{ subject: 'product 8' }]);
  });

  it('of one invariant excuses no other', async () => {
    await ledger.alter('payments', orphan(ids.unplaced));
    const before = await auditBaseline(ledger.target);
    await ledger.alter('shipping', `DELETE FROM "Shipments" WHERE "OrderId" = '${ids.confirmed}'`);
    expect(violatedOf(await afterwards(before))).toEqual(['I7']);
  });

  it('is nothing when everything balanced', async () => {
    const before = await auditBaseline(ledger.target);
    expect(describeBaseline(before)).toBe('');
    await ledger.alter('payments', orphan(ids.unplaced));
    expect(violatedOf(await afterwards(before))).toEqual(['I4']);
  });
});

describe('missing evidence', () => {
  it('a database that does not respond makes what rests on it unknown, and nothing else', async () => {
    const target = {
      ...ledger.target,
      databaseUrls: { ...ledger.target.databaseUrls, payments: 'postgres://x:y@127.0.0.1:1/payments' },
    };
    const report = await ledger.audit({ target });
    const unknown = report.invariants.filter(({ verdict }) => verdict === 'unknown').map(({ id }) => id);
    expect(unknown).toEqual(['I4']);
    expect(exitCodeOf(report.verdict)).toBe(5);
    expect(JSON.stringify(report)).not.toContain('x:y');
  });

  it('a catalog that does not respond makes the prices unknown, and nothing else', async () => {
    const target = {
      ...ledger.target,
      databaseUrls: { ...ledger.target.databaseUrls, catalog: 'postgres://x:y@127.0.0.1:1/catalog' },
    };
    const { invariants } = await ledger.audit({ target });
    expect(invariants.filter(({ verdict }) => verdict === 'unknown').map(({ id }) => id)).toEqual(['I15']);
  });

  it('a broker that does not respond makes I9 unknown', async () => {
    const target = { ...ledger.target, queues: () => Promise.reject(new Error('the broker is unavailable')) };
    const report = await ledger.audit({ target });
    expect(report.invariants.find(({ id }) => id === 'I9')).toMatchObject({
      verdict: 'unknown',
      evidence: 'the broker is unavailable',
    });
    expect(exitCodeOf(report.verdict)).toBe(5);
  });

  it('a violation outweighs missing evidence', async () => {
    await ledger.alter('shipping', `DELETE FROM "Shipments" WHERE "OrderId" = '${ids.confirmed}'`);
    const target = {
      ...ledger.target,
      telemetry: { ...ledger.target.telemetry, metrics: () => Promise.reject(new Error('unavailable')) },
    };
    expect(exitCodeOf((await ledger.audit({ target })).verdict)).toBe(1);
  });
});
