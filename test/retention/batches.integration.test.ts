/*
 * Goal: a batch reads what it deletes, and not its table, also under a plan that knows no parameter. Method: tables of 20,000 rows, half of
 * them old; PostgreSQL's own count of rows that were read in sequence.
 */
import { openDatabase } from '@shop/kit/database.ts';
import { createLogger } from '@shop/kit/logger.ts';
import pg from 'pg';
import { expect, it, vi } from 'vitest';
import { purgePublished } from '../../services/orders/src/outbox.ts';
import { purgeOrders } from '../../services/orders/src/repository.ts';
import { purgePayments } from '../../services/payments/src/repository.ts';
import { purgeInbox, purgeShipments } from '../../services/shipping/src/repository.ts';
import { purgeReservations } from '../../services/stock/src/repository.ts';
import { createDatabase, START_TIMEOUT_MS } from '../support/infrastructure.ts';

const ROWS = 20_000;
/** A row an hour, from 833 days ago until now: the oldest come first. */
const TIMES = `(SELECT n, now() - (${ROWS} - n) * interval '1 hour' AS t FROM generate_series(1, ${ROWS}) AS n) AS times`;
const logger = createLogger({ service: 'test', instance: 'retention', level: 'silent' });

it.each([
  [
    'orders',
    'orders',
    purgeOrders,
    `INSERT INTO orders (id, customer, lines, total_kopiykas, currency, status, state, open, owner, created_at, decided_at, updated_at)
     SELECT gen_random_uuid(), 'Test', '[{"productId":1,"quantity":1,"priceKopiykas":1}]', 1, 'UAH', 'Confirmed', 'Confirmed', false, gen_random_uuid(), t, t, t FROM ${TIMES}`,
  ],
  [
    'orders',
    'outbox',
    purgePublished,
    `INSERT INTO outbox (id, order_id, type, payload, created_at, published_at)
     SELECT gen_random_uuid(), gen_random_uuid(), 'order.confirmed', '{}', t, t FROM ${TIMES}`,
  ],
  [
    'payments',
    'payments',
    purgePayments,
    `INSERT INTO payments (order_id, charge_key, amount_kopiykas, currency, state, created_at, updated_at)
     SELECT gen_random_uuid(), n, 1, 'UAH', 'accepted', t, t FROM ${TIMES}`,
  ],
  [
    'stock',
    'reservations',
    purgeReservations,
    `INSERT INTO reservations (order_id, reserve_key, state, lines, created_at)
     SELECT gen_random_uuid(), n, 'reserved', '[{"productId":1,"quantity":1}]', t FROM ${TIMES};
     UPDATE inventory SET on_hand = on_hand - ${ROWS} WHERE product_id = 1`,
  ],
  [
    'shipping',
    'inbox',
    purgeInbox,
    `INSERT INTO inbox (message_id, type, order_id, received_at)
     SELECT gen_random_uuid(), 'order.confirmed', gen_random_uuid(), t FROM ${TIMES}`,
  ],
  [
    'shipping',
    'Shipments',
    purgeShipments,
    `INSERT INTO "Shipments" ("OrderId", "CreatedAt") SELECT gen_random_uuid(), t FROM ${TIMES}`,
  ],
] as const)(
  '%s: a batch of %s reads no other rows',
  async (name, table, purge, rows) => {
    const { url, ownerUrl } = await createDatabase(name);
    const owner = new pg.Client(ownerUrl);
    await owner.connect();
    await owner.query(`${rows}; ANALYZE`);
    const counts = async () => {
      const { rows } = await owner.query<{ deleted: number; read: number }>(
        `SELECT n_tup_del::int AS deleted, seq_tup_read::int AS read FROM pg_stat_user_tables WHERE relname = $1`,
        [table],
      );
      return rows[0] ?? { deleted: 0, read: 0 };
    };
    const before = await counts();

    const generic = new URL(url);
    generic.searchParams.set('options', '-c plan_cache_mode=force_generic_plan');
    {
      await using database = openDatabase({ url: generic.href, poolSize: 1, applicationName: 'retention', logger });
      for (let batch = 0; batch < 3; batch++) {
        expect(await purge(database, { days: 365, limit: 1_000 })).toBe(1_000);
      }
    }

    // The counts of a session arrive when it ends.
    await vi.waitFor(async () => expect((await counts()).deleted - before.deleted).toBe(3_000), { timeout: 10_000 });
    expect((await counts()).read - before.read).toBeLessThan(ROWS);
    await owner.end();
  },
  START_TIMEOUT_MS,
);
