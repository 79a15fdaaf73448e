/** A ledger that balances, altered row by row; see `audit.integration.test.ts`. Its orders are an hour old. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import { lookAtRecent } from './recent.ts';
import { ids, type LedgerFixture, openLedgerFixture } from './testing/ledger-fixture.ts';

const HOURS_MS = 2 * 3_600_000;

let ledger: LedgerFixture;
beforeAll(async () => {
  ledger = await openLedgerFixture();
}, START_TIMEOUT_MS);
afterAll(() => ledger?.[Symbol.asyncDispose]());
beforeEach(() => ledger.reset());

const look = (sinceMs = Date.now() - HOURS_MS) => lookAtRecent(ledger.target, sinceMs);

it('finds nothing in a ledger that balances', async () => {
  expect(await look()).toMatchObject({ orders: 5, violations: [], unknown: new Map(), unfinishedSince: undefined });
});

it.each([
  [
    'I4',
    'payments',
    `INSERT INTO payment_effects (order_id, kind, amount_kopiykas, currency) SELECT order_id, kind, amount_kopiykas, currency FROM payment_effects WHERE order_id = '${ids.confirmed}'`,
    'duplicated',
    ids.confirmed,
  ],
  [
    'I5',
    'stock',
    `UPDATE reservations SET state = 'released' WHERE order_id = '${ids.confirmed}'`,
    'lost',
    ids.confirmed,
  ],
  ['I7', 'shipping', `DELETE FROM parcels WHERE order_id = '${ids.confirmed}'`, 'wrong', ids.confirmed],
  [
    'I8',
    'shipping',
    `UPDATE inbox SET message_id = gen_random_uuid() WHERE order_id = '${ids.confirmed}'`,
    'unexpected',
    ids.confirmed,
  ],
  [
    'I15',
    'catalog',
    `UPDATE product_prices SET price_kopiykas = price_kopiykas * 100 WHERE product_id = (SELECT min(product_id) FROM product_prices)`,
    'wrong',
    ids.confirmed,
  ],
] as const)('%s: a change in %s is a violation of its order', async (invariant, database, text, kind, orderId) => {
  await ledger.alter(database, text);
  const { violations } = await look();
  expect(violations.filter((one) => one.orderId !== undefined)).toMatchObject([{ invariant, kind, orderId }]);
  expect(violations[0]?.placedAt).toBeLessThan(Date.now() - HOURS_MS / 4);
});

it('leaves out what is older than the window, and orders of the last 30 s', async () => {
  await ledger.alter('shipping', `DELETE FROM parcels WHERE order_id = '${ids.confirmed}'`);
  expect(await look(Date.now() - 60_000)).toMatchObject({ orders: 0, violations: [] });
  await ledger.alter('orders', `UPDATE orders SET created_at = now() WHERE id = '${ids.confirmed}'`);
  expect(await look()).toMatchObject({ orders: 4, violations: [] });
});

it('says since when an order waits for its shipment', async () => {
  await ledger.alter('shipping', `DELETE FROM "Shipments" WHERE "OrderId" = '${ids.confirmed}'`);
  const { unfinishedSince = 0 } = await look();
  expect(Date.now() - unfinishedSince).toBeGreaterThan(HOURS_MS / 4);
});
