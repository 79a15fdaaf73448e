/*
 * Goal: records that a migration begins to keep include what was there before it. Method: a database is migrated back to
 * the migration before, given rows, and migrated again.
 */
import { join } from 'node:path';
import pg from 'pg';
import { expect, it } from 'vitest';
import { parseMigrationTask } from '../../cli/src/migrate/login.ts';
import { migrateDatabase } from '../../cli/src/providers/postgres/migrate.ts';
import { cautiousGate } from '../../cli/src/providers/schema/schema-gate.ts';
import { createDatabase, START_TIMEOUT_MS } from '../support/infrastructure.ts';

const id = (number: number) => `${number}0000000-0000-4000-8000-000000000000`;

it.each([
  [
    'payments',
    '0005_effects',
    'DROP TABLE payment_effects',
    `INSERT INTO payments (order_id, charge_key, refund_key, amount_kopiykas, currency, state) VALUES
       ('${id(1)}', 'a', NULL, 100, 'UAH', 'accepted'), ('${id(2)}', 'b', 'b', 200, 'UAH', 'refunded'),
       ('${id(3)}', 'c', NULL, 300, 'UAH', 'declined'), ('${id(4)}', 'd', 'd', 400, 'UAH', 'voided')`,
    `SELECT left(order_id::text, 1) || ' ' || kind || ' ' || amount_kopiykas AS kept FROM payment_effects ORDER BY order_id, seq`,
    ['1 charge 100', '2 charge 200', '2 refund 200'],
  ],
  [
    'shipping',
    '0002_parcels',
    'DROP TABLE parcels',
    `INSERT INTO "Shipments" ("OrderId", "Lines") VALUES ('${id(1)}', '[{"productId":1,"quantity":2}]')`,
    `SELECT left(order_id::text, 1) || ' ' || (lines -> 0 ->> 'quantity') AS kept FROM parcels`,
    ['1 2'],
  ],
  [
    'catalog',
    '0005_price_history',
    'DROP TRIGGER products_price ON products; DROP FUNCTION record_price; DROP TABLE product_prices',
    'DELETE FROM products WHERE id > 1',
    `SELECT product_id || ' ' || price_kopiykas || ' ' || valid_from AS kept FROM product_prices`,
    ['1 45000 -infinity'],
  ],
] as const)(
  '%s: %s',
  async (service, migration, back, rows, question, kept) => {
    const { ownerUrl } = await createDatabase(service);
    const owner = new pg.Client(ownerUrl);
    await owner.connect();
    await owner.query(`${back}; DELETE FROM migrations.applied WHERE name >= '${migration}'; ${rows}`);
    const { login } = parseMigrationTask([service], { DATABASE_URL: ownerUrl });
    const folder = join(import.meta.dirname, '../../migrations', service);
    const { applied } = await migrateDatabase(login, folder, cautiousGate);
    // Those behind it can be applied once more.
    expect(applied[0]).toBe(migration);
    expect((await owner.query<{ kept: string }>(question)).rows.map((row) => row.kept)).toEqual(kept);
    await owner.end();
  },
  START_TIMEOUT_MS,
);
