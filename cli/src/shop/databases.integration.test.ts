import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import type { TestDatabase } from '../../../test/support/postgres.ts';
import { withClient } from '../providers/postgres/client.ts';
import { type DatabaseName, databaseNames } from '../topology/databases.ts';
import { openShopDatabases, type ShopDatabases } from './databases.ts';
import { parseIdPrefix } from './id-prefix.ts';
import { countOpenSagas } from './open-sagas.ts';
import { readOrderEvidence } from './order-evidence.ts';
import { findOrderId, listEndedSagas, listOpenSagas, listOrders, readCustomer } from './orders-table.ts';
import {
  countPendingRows,
  findRows,
  isTooOld,
  listArrivedRows,
  listPendingRows,
  listPublishedRows,
  unpublishRows,
} from './outbox-table.ts';
import { listProducts, listStock } from './products-table.ts';
import { unshippedOf } from './shipments-table.ts';
import { stuckReasons } from './stuck.ts';

/*
 * The statements against the real schema and the real operator role: inserts rows as the services would write them, as
 * their owner, and reads them as the command line does.
 */

const CONFIRMED = '3f2b8a1c-0000-4000-8000-000000000001';
const DECLINED = '3f2b8a1c-0000-4000-8000-000000000002';
const STUCK = '77777777-0000-4000-8000-000000000003';
const OUTBOX_ID = 'b1c2d3e4-1111-4111-8111-111111111111';
const OWNER = 'a2f1b3c4-0000-4000-8000-000000000001';
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

let made: Record<DatabaseName, TestDatabase>;
let urls: Record<DatabaseName, string>;
let databases: ShopDatabases;

beforeAll(async () => {
  const created = await Promise.all(databaseNames.map(async (name) => [name, await createDatabase(name)] as const));
  await Promise.all(created.map(([name, database]) => insertRows(database, rows[name] ?? '')));
  made = Object.fromEntries(created) as typeof made;
  urls = Object.fromEntries(created.map(([name, { operatorUrl }]) => [name, operatorUrl])) as typeof urls;
  databases = openShopDatabases(urls);
}, START_TIMEOUT_MS);

afterAll(() => databases?.[Symbol.asyncDispose]());

async function insertRows({ ownerUrl }: TestDatabase, sql: string): Promise<void> {
  const { hostname, port, username, password, pathname } = new URL(ownerUrl);
  const login = { host: hostname, port: Number(port), user: username, password: decodeURIComponent(password) };
  await withClient({ ...login, database: pathname.slice(1) }, (client) => client.query(sql));
}

const LINES = `'[{"productId":1,"quantity":1,"priceKopiykas":45000}]'`;

const rows: Partial<Record<DatabaseName, string>> = {
  orders: `
    INSERT INTO saga_owners (id, instance, lease_until) VALUES ('${OWNER}', 'orders-1', now() + interval '1 hour');
    INSERT INTO orders (id, customer, lines, total_kopiykas, currency, status, reason, state, open, owner, pending, attempts,
                        last_error, next_attempt_at, trace_parent, created_at, decided_at) VALUES
      ('${CONFIRMED}', 'Marker Customer', ${LINES}, 45000, 'UAH', 'Confirmed', NULL, 'Confirmed', false, '${OWNER}', '[]', 0,
       NULL, NULL, '00-${TRACE_ID}-1111111111111111-01', now() - interval '2 minutes', now() - interval '2 minutes'),
      ('${DECLINED}', 'Marker Customer', '[{"productId":12,"quantity":1,"priceKopiykas":6200000}]', 6200000, 'UAH', 'Cancelled', 'payment declined', 'Cancelled', false,
       '${OWNER}', '[]', 0, NULL, NULL, NULL, now() - interval '1 minute', now() - interval '1 minute'),
      ('${STUCK}', 'Marker Customer', ${LINES}, 45000, 'UAH', 'Cancelled', 'payment unavailable', 'Compensating', true,
       gen_random_uuid(), '["refund payment","release stock"]', 5, 'orders-payments: timeout', now() + interval '5 s', NULL,
       now() - interval '3 minutes', now() - interval '3 minutes');
    INSERT INTO outbox (id, order_id, type, payload, "TraceParent", published_at)
    VALUES ('${OUTBOX_ID}', '${CONFIRMED}', 'order.confirmed', '{}', NULL, now());`,
  stock: `
    INSERT INTO reservations (order_id, reserve_key, release_key, state, lines, released_at) VALUES
      ('${CONFIRMED}', '${CONFIRMED}:reserve', NULL, 'reserved', '[{"productId":1,"quantity":1}]', NULL),
      ('${DECLINED}', '${DECLINED}:reserve', '${DECLINED}:release', 'released', '[{"productId":1,"quantity":1}]', now()),
      ('${STUCK}', NULL, '${STUCK}:release', 'released', '[]', now());`,
  payments: `
    INSERT INTO payments (order_id, charge_key, amount_kopiykas, currency, state) VALUES
      ('${CONFIRMED}', '${CONFIRMED}:charge', 45000, 'UAH', 'accepted'),
      ('${DECLINED}', '${DECLINED}:charge', 6200000, 'UAH', 'declined');
    INSERT INTO payments (order_id, refund_key, state) VALUES ('${STUCK}', '${STUCK}:refund', 'voided');`,
  shipping: `
    INSERT INTO inbox (message_id, type, order_id) VALUES ('${OUTBOX_ID}', 'order.confirmed', '${CONFIRMED}');
    INSERT INTO "Shipments" ("OrderId", "Lines") VALUES ('${CONFIRMED}', '[{"productId":1,"quantity":1}]');`,
};

const prefix = (text: string) => parseIdPrefix(text, 'order');

describe('products and stock', () => {
  it('lists what can be ordered, and what there is of it', async () => {
    const products = await listProducts(databases);
    expect(products).toHaveLength(12);
    expect(products[10]).toEqual({ id: 11, name: 'Concert bandura', priceKopiykas: 5_000_000, currency: 'UAH' });
    expect((await listStock(databases))[9]).toEqual({ productId: 10, onHand: 10, initial: 10, reserved: 0 });
  });
});

describe('the evidence of an order', () => {
  it('joins what all databases hold for it, without the customer', async () => {
    const evidence = await readOrderEvidence(databases, prefix(CONFIRMED));
    expect(evidence).toMatchObject({
      order: {
        id: CONFIRMED,
        status: 'Confirmed',
        totalKopiykas: 45_000,
        traceId: TRACE_ID,
        owner: { instance: 'orders-1', alive: true },
      },
      outbox: [{ id: OUTBOX_ID, type: 'order.confirmed', publishedAt: expect.any(Date) }],
      reservation: { state: 'reserved', wasReserved: true },
      payment: { state: 'accepted', amountKopiykas: 45_000 },
      inbox: [{ messageId: OUTBOX_ID }],
      shipment: { lines: [{ productId: 1, quantity: 1 }] },
      unavailable: {},
    });
    expect(JSON.stringify(evidence)).not.toContain('Marker');
  });

  it('distinguishes tombstones from what was done', async () => {
    const { reservation, payment } = await readOrderEvidence(databases, prefix(STUCK));
    expect(reservation).toMatchObject({ state: 'released', wasReserved: false });
    expect(payment).toMatchObject({ state: 'voided', amountKopiykas: null });
  });

  it('goes on without a participant’s database that does not respond, and names it', async () => {
    await using partly = openShopDatabases({ ...urls, payments: 'postgres://nobody@127.0.0.1:1/payments' });
    const evidence = await readOrderEvidence(partly, prefix(CONFIRMED));
    expect(evidence.payment).toBeNull();
    expect(Object.keys(evidence.unavailable)).toEqual(['payments']);
    expect(evidence.reservation).not.toBeNull();
  });
});

describe('orders', () => {
  it('are found by a unique prefix; an ambiguous one names the candidates', async () => {
    expect(await findOrderId(databases, prefix('777777'))).toBe(STUCK);
    await expect(findOrderId(databases, prefix('3f2b8a1c'))).rejects.toMatchObject({
      exitCode: 1,
      why: expect.stringContaining(DECLINED),
    });
    await expect(findOrderId(databases, prefix('abcdef'))).rejects.toMatchObject({ exitCode: 1 });
  });

  it('are listed newest first, by status if wanted', async () => {
    const ids = async (status?: 'Confirmed' | 'Cancelled' | 'open') =>
      (await listOrders(databases, { status, limit: 10 })).map(({ id }) => id);
    expect(await ids()).toEqual([DECLINED, CONFIRMED, STUCK]);
    expect(await ids('Cancelled')).toEqual([DECLINED, STUCK]);
    expect(await ids('open')).toEqual([STUCK]);
  });

  it('have a customer, read only when asked for', async () => {
    expect(await readCustomer(databases, CONFIRMED)).toBe('Marker Customer');
  });
});

describe('sagas', () => {
  it('are counted, those that are stuck by the same rules', async () => {
    expect(await countOpenSagas(databases)).toEqual({ inFlight: 0, compensating: 1, stuck: 1 });
  });

  it('are stuck when they are old, alone and failing', async () => {
    const [stuck, ...others] = await listOpenSagas(databases, 10);
    expect(others).toEqual([]);
    expect(stuck).toMatchObject({ id: STUCK, pending: ['refund payment', 'release stock'], owner: { alive: false } });
    expect(stuckReasons(stuck as NonNullable<typeof stuck>)).toHaveLength(3);
  });

  it('that ended are listed newest first', async () => {
    expect((await listEndedSagas(databases, { limit: 10 })).map(({ id }) => id)).toEqual([DECLINED, CONFIRMED]);
    expect(await listEndedSagas(databases, { state: 'Confirmed', limit: 10 })).toHaveLength(1);
  });
});

describe('events without a shipment', () => {
  const hour = () => new Date(Date.now() - 3_600_000);

  it('are looked for among those that were published and have had time to arrive', async () => {
    expect(await listArrivedRows(databases, hour())).toEqual([]);
    await insertRows(made.orders, `UPDATE outbox SET published_at = now() - interval '1 minute'`);
    expect(await listArrivedRows(databases, hour())).toMatchObject([{ id: OUTBOX_ID, orderId: CONFIRMED }]);
    expect(await listArrivedRows(databases, new Date(Date.now() + 1_000))).toEqual([]);
  });

  it('are those whose order has none', async () => {
    expect(await unshippedOf(databases, [DECLINED, CONFIRMED, STUCK])).toEqual([DECLINED, STUCK]);
    expect(await unshippedOf(databases, [])).toEqual([]);
  });
});

describe('the operator', () => {
  it('publishes an outbox row again, once', async () => {
    expect(await findRows(databases, parseIdPrefix('b1c2d3', 'outbox'))).toHaveLength(1);
    expect(await listPublishedRows(databases, 10)).toHaveLength(1);
    expect(await unpublishRows(databases, [OUTBOX_ID])).toEqual([OUTBOX_ID]);
    expect(await unpublishRows(databases, [OUTBOX_ID])).toEqual([]);
    expect(await countPendingRows(databases)).toBe(1);
    expect(await listPendingRows(databases, 10)).toMatchObject([{ id: OUTBOX_ID, publishedAt: null }]);
  });

  it('does not publish an event of more than a year ago again: its shipment may be deleted', async () => {
    await insertRows(made.orders, `UPDATE outbox SET published_at = now(), created_at = now() - interval '366 days'`);
    expect((await findRows(databases, parseIdPrefix('b1c2d3', 'outbox'))).map(isTooOld)).toEqual([true]);
    expect(await unpublishRows(databases, [OUTBOX_ID])).toEqual([]);
  });

  it('may change nothing else', async () => {
    const refused = expect.objectContaining({ code: 'database_refused', message: expect.stringContaining('42501') });
    await expect(databases.query('orders', `UPDATE orders SET status = NULL`)).rejects.toEqual(refused);
    await expect(databases.query('orders', `UPDATE outbox SET payload = '{}'`)).rejects.toEqual(refused);
    await expect(databases.query('payments', 'DELETE FROM payments')).rejects.toEqual(refused);
  });
});

describe('a database that does not respond', () => {
  it('ends a statement that runs too long with exit code 4; the next statement works', async () => {
    await using hasty = openShopDatabases(urls, { connectTimeoutMs: 2_000, statementTimeoutMs: 200 });
    await expect(hasty.query('orders', 'SELECT pg_sleep(30)')).rejects.toMatchObject({ code: 'database_unreachable' });
    expect(await hasty.query('orders', 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('frozen: ends within 5 s with exit code 4, names no password and lets the process end', async () => {
    const sockets: Socket[] = [];
    // Accepts and says nothing, as the kernel does for a process that is stopped.
    const frozen = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await once(frozen, 'listening');
    const { port } = frozen.address() as { port: number };
    const startedAt = performance.now();
    try {
      await using stopped = openShopDatabases({
        ...urls,
        orders: `postgres://shop_operator:secret@127.0.0.1:${port}/orders`,
      });
      const error = await stopped.query('orders', 'SELECT 1').catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: 'database_unreachable',
        what: expect.stringContaining('the orders database'),
      });
      expect(`${(error as Error).stack}${JSON.stringify(error)}`).not.toContain('secret');
    } finally {
      for (const socket of sockets) socket.destroy();
      frozen.close();
    }
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  }, 10_000);
});

it('connects no more after its disposal, also for a statement that was asked for before', async () => {
  const closed = openShopDatabases(urls);
  const asked = closed.query('shipping', 'SELECT 1');
  await Promise.all([
    expect(asked).rejects.toMatchObject({ why: expect.stringContaining('have been closed') }),
    closed[Symbol.asyncDispose](),
  ]);
  await expect(closed.query('orders', 'SELECT 1')).rejects.toThrow();
});
