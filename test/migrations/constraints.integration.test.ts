/*
 * Goal: a database refuses every row that cannot be, whatever writes it. Method: as the service's own role, a possible row is
 * taken, and the same row with one impossible change is refused by the constraint that forbids it.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatabaseName } from '../../cli/src/topology/databases.ts';
import { createDatabase, START_TIMEOUT_MS } from '../support/infrastructure.ts';

type Row = Readonly<Record<string, unknown>>;

/** SQLSTATE of a row that a CHECK refuses. */
const CHECK_VIOLATION = '23514';
const NO_PRIVILEGE = '42501';

const line = { productId: 1, quantity: 2, priceKopiykas: 10_000 };
const NOW = new Date();
const ID = '10000000-0000-4000-8000-000000000001';

const started = {
  id: ID,
  customer: 'c',
  lines: JSON.stringify([line]),
  total_kopiykas: 20_000,
  currency: 'UAH',
  state: 'Started',
  owner: ID,
};
const confirmed = { ...started, state: 'Confirmed', status: 'Confirmed', open: false, decided_at: NOW };
const compensating = {
  ...started,
  state: 'Compensating',
  status: 'Cancelled',
  reason: 'payment declined',
  pending: '["release stock"]',
  decided_at: NOW,
};
const cancelled = { ...compensating, state: 'Cancelled', pending: '[]', open: false };

const attempted = { order_id: ID, charge_key: 'c', amount_kopiykas: 1, currency: 'UAH', state: 'attempted' };
const refunded = { ...attempted, state: 'refunded', refund_key: 'r' };
const paymentTombstone = { order_id: ID, state: 'voided', refund_key: 'r' };

const charge = { order_id: ID, kind: 'charge', amount_kopiykas: 1, currency: 'UAH' };
const parcel = { order_id: ID, lines: '[{"productId":1,"quantity":1}]' };

const reserved = { order_id: ID, reserve_key: 'k', state: 'reserved', lines: '[{"productId":1,"quantity":1}]' };
const insufficient = { ...reserved, state: 'insufficient', insufficient_product_ids: [1] };
const released = { ...reserved, state: 'released', release_key: 'r', released_at: NOW };
const reservationTombstone = { order_id: ID, state: 'released', release_key: 'r', released_at: NOW };

interface Table {
  readonly database: DatabaseName;
  readonly table: string;
  readonly possible: readonly Row[];
  readonly impossible: readonly (readonly [constraint: string, row: Row])[];
}

const tables: readonly Table[] = [
  {
    database: 'orders',
    table: 'orders',
    possible: [started, { ...started, state: 'PaymentCharged' }, confirmed, compensating, cancelled],
    impossible: [
      ['orders_total_of_lines', { ...started, total_kopiykas: 19_999 }],
      ['orders_total_of_lines', { ...started, lines: '[]', total_kopiykas: 0 }],
      [
        'orders_total_of_lines',
        { ...started, lines: JSON.stringify([{ ...line, priceKopiykas: -10_000 }]), total_kopiykas: -20_000 },
      ],
      ['orders_total_of_lines', { ...started, lines: JSON.stringify([line, { productId: 2, quantity: 1 }]) }],
      ['orders_currency', { ...started, currency: 'hryvnia' }],
      ['orders_state', { ...started, state: 'Shipped' }],
      ['orders_status_of_state', { ...confirmed, status: 'Cancelled' }],
      ['orders_status_of_state', { ...started, status: 'Confirmed', decided_at: NOW }],
      ['orders_open_until_end', { ...confirmed, open: true }],
      ['orders_open_until_end', { ...started, open: false }],
      ['orders_reason_of_cancelled', { ...confirmed, reason: 'out of stock' }],
      ['orders_reason_of_cancelled', { ...cancelled, reason: null }],
      ['orders_decided_at', { ...confirmed, decided_at: null }],
      ['orders_decided_at', { ...started, decided_at: NOW }],
      ['orders_pending_while_compensating', { ...compensating, pending: '[]' }],
      ['orders_pending_while_compensating', { ...confirmed, pending: '["refund payment"]' }],
      ['orders_key_with_hash', { ...started, idempotency_key: 'k' }],
    ],
  },
  {
    database: 'payments',
    table: 'payments',
    possible: [
      attempted,
      { ...attempted, state: 'accepted' },
      { ...attempted, state: 'declined' },
      refunded,
      paymentTombstone,
    ],
    impossible: [
      ['payments_amount_positive', { ...attempted, amount_kopiykas: 0 }],
      ['payments_currency', { ...attempted, currency: 'uah' }],
      ['payments_state', { ...attempted, state: 'paid' }],
      ['payments_charge_complete', { ...attempted, amount_kopiykas: null }],
      ['payments_charge_complete', { ...attempted, currency: null }],
      ['payments_charge_complete', { ...paymentTombstone, amount_kopiykas: 1 }],
      ['payments_charged_or_voided', { order_id: ID, state: 'accepted' }],
      ['payments_refund_key', { ...refunded, refund_key: null }],
      ['payments_refund_key', { ...attempted, state: 'accepted', refund_key: 'r' }],
    ],
  },
  {
    database: 'payments',
    table: 'payment_effects',
    possible: [charge, { ...charge, kind: 'refund' }],
    impossible: [
      ['payment_effects_amount_positive', { ...charge, amount_kopiykas: 0 }],
      ['payment_effects_currency', { ...charge, currency: 'uah' }],
      ['payment_effects_kind', { ...charge, kind: 'bonus' }],
    ],
  },
  {
    database: 'shipping',
    table: 'parcels',
    possible: [parcel],
    impossible: [['parcels_lines', { ...parcel, lines: '{}' }]],
  },
  {
    database: 'stock',
    table: 'reservations',
    possible: [reserved, insufficient, released, reservationTombstone],
    impossible: [
      ['reservations_state', { ...reserved, state: 'held' }],
      ['reservations_reserved_or_released', { ...reserved, reserve_key: null, lines: '[]' }],
      ['reservations_short_products', { ...insufficient, insufficient_product_ids: [] }],
      ['reservations_short_products', { ...reserved, insufficient_product_ids: [1] }],
      ['reservations_released_at', { ...released, released_at: null }],
      ['reservations_release_key', { ...released, release_key: null }],
      ['reservations_release_key', { ...reserved, release_key: 'r' }],
      ['reservations_lines', { ...reserved, lines: '[]' }],
      ['reservations_lines', { ...reserved, lines: '{}' }],
      ['reservations_lines', { ...reservationTombstone, lines: reserved.lines }],
    ],
  },
  {
    database: 'stock',
    table: 'inventory',
    possible: [
      { product_id: 99, on_hand: 0, initial_on_hand: 1 },
      { product_id: 99, on_hand: 1, initial_on_hand: 1 },
    ],
    impossible: [
      ['inventory_on_hand_check', { product_id: 99, on_hand: -1, initial_on_hand: 1 }],
      ['inventory_within_initial', { product_id: 99, on_hand: 2, initial_on_hand: 1 }],
    ],
  },
];

async function insert(client: pg.Client, table: string, row: Row): Promise<void> {
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  await client.query(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places.join(', ')})`, Object.values(row));
}

describe.each(tables)('$table', ({ database, table, possible, impossible }) => {
  let service: pg.Client;
  let owner: pg.Client;
  beforeAll(async () => {
    const urls = await createDatabase(database);
    [service, owner] = [new pg.Client(urls.url), new pg.Client(urls.ownerUrl)];
    await Promise.all([service.connect(), owner.connect()]);
  }, START_TIMEOUT_MS);
  afterAll(() => Promise.all([service?.end(), owner?.end()]));

  /** Undefined when the row was taken; it is rolled back. */
  async function refusalOf(row: Row): Promise<{ code: string; constraint: string } | undefined> {
    await service.query('BEGIN');
    try {
      await insert(service, table, row);
      return undefined;
    } catch (error) {
      const { code, constraint } = error as pg.DatabaseError;
      return { code: String(code), constraint: String(constraint) };
    } finally {
      await service.query('ROLLBACK');
    }
  }

  it.each(possible)('takes %j', async (row) => {
    expect(await refusalOf(row)).toBeUndefined();
  });

  it.each(impossible)('%s refuses %j', async (constraint, row) => {
    expect(await refusalOf(row)).toEqual({ code: CHECK_VIOLATION, constraint });
  });

  it('has no CHECK that refuses nothing here, and none that was not validated', async () => {
    const { rows } = await owner.query<{ name: string; validated: boolean }>(
      `SELECT conname AS name, convalidated AS validated FROM pg_constraint
       WHERE conrelid = $1::regclass AND contype = 'c' ORDER BY conname`,
      [table],
    );
    const names = [...new Set(impossible.map(([name]) => name))].sort();
    expect(rows).toEqual(names.map((name) => ({ name, validated: true })));
  });
});

it.each([
  ['payments', 'payment_effects', charge],
  ['shipping', 'parcels', parcel],
] as const)('%s: %s is append-only, and nothing in it hides a second row', async (database, table, row) => {
  const client = new pg.Client((await createDatabase(database)).url);
  await client.connect();
  await insert(client, table, row);
  await insert(client, table, row);
  const refused = { code: NO_PRIVILEGE };
  await expect(client.query(`UPDATE ${table} SET order_id = order_id`)).rejects.toMatchObject(refused);
  await expect(client.query(`DELETE FROM ${table}`)).rejects.toMatchObject(refused);
  await expect(client.query(`TRUNCATE ${table}`)).rejects.toMatchObject(refused);
  expect((await client.query(`SELECT FROM ${table}`)).rowCount).toBe(2);
  await client.end();
});
