import type { DatabaseName } from '../../../cli/src/topology/databases.ts';
import type { TestPlatform } from '../../support/platform.ts';
import { eventually } from './eventually.ts';

/** Everything the five databases hold about one order. */
export interface Ledger {
  readonly order: {
    readonly status: 'Confirmed' | 'Cancelled' | null;
    readonly reason: string | null;
    readonly state: string;
    readonly open: boolean;
    readonly trace_parent: string | null;
  };
  /** `published` says whether each row is. */
  readonly outbox: readonly { readonly id: string; readonly published: boolean }[];
  readonly reservations: readonly { readonly state: string }[];
  readonly payments: readonly { readonly state: string; readonly amount: number | null }[];
  readonly inbox: readonly { readonly message_id: string }[];
  readonly shipments: readonly { readonly Id: string }[];
}

/** Reads what is recorded of an order. Throws when there is no such order. */
export async function readLedger({ query }: TestPlatform, orderId: string): Promise<Ledger> {
  const [orders, outbox, reservations, payments, inbox, shipments] = await Promise.all([
    query<Ledger['order']>('orders', 'SELECT status, reason, state, open, trace_parent FROM orders WHERE id = $1', [
      orderId,
    ]),
    query<Ledger['outbox'][number]>(
      'orders',
      'SELECT id, published_at IS NOT NULL AS published FROM outbox WHERE order_id = $1',
      [orderId],
    ),
    query<Ledger['reservations'][number]>('stock', 'SELECT state FROM reservations WHERE order_id = $1', [orderId]),
    query<Ledger['payments'][number]>(
      'payments',
      'SELECT state, amount_kopiykas::int AS amount FROM payments WHERE order_id = $1',
      [orderId],
    ),
    query<Ledger['inbox'][number]>('shipping', 'SELECT message_id FROM inbox WHERE order_id = $1', [orderId]),
    query<Ledger['shipments'][number]>('shipping', 'SELECT "Id" FROM "Shipments" WHERE "OrderId" = $1', [orderId]),
  ]);
  const [order] = orders;
  if (order === undefined) throw new Error(`there is no order ${orderId}`);
  return { order, outbox, reservations, payments, inbox, shipments };
}

/** The tables that orders leave rows in. */
const TABLES: readonly (readonly [DatabaseName, string])[] = [
  ['catalog', 'products'],
  ['orders', 'orders'],
  ['orders', 'outbox'],
  ['stock', 'reservations'],
  ['payments', 'payments'],
  ['payments', 'payment_effects'],
  ['shipping', 'inbox'],
  ['shipping', '"Shipments"'],
  ['shipping', 'parcels'],
];

/** Rows of every table, and the units on hand: equal before and after what records nothing. */
export async function countRows({ query }: TestPlatform): Promise<Readonly<Record<string, number>>> {
  const counts = await Promise.all(
    TABLES.map(async ([database, table]) => {
      const [row] = await query<{ count: number }>(database, `SELECT count(*)::int AS count FROM ${table}`);
      return [`${database}.${table}`, row?.count ?? 0] as const;
    }),
  );
  const [units] = await query<{ sum: number }>('stock', 'SELECT sum(on_hand)::int AS sum FROM inventory');
  return { ...Object.fromEntries(counts), 'stock units on hand': units?.sum ?? 0 };
}

/** Resolves when no saga is open and no event waits, everywhere. */
export async function untilDrained(platform: TestPlatform, withinMs = 20_000): Promise<void> {
  const open = () =>
    platform.query<{ sagas: number; events: number; unshipped: number }>(
      'orders',
      `SELECT (SELECT count(*)::int FROM orders WHERE open) AS sagas,
              (SELECT count(*)::int FROM outbox WHERE published_at IS NULL) AS events`,
    );
  await eventually('all sagas to end and all events to be published', { withinMs, seen: open }, async () => {
    const [row] = await open();
    return row?.sagas === 0 && row.events === 0;
  });
  const unshipped = () => findUnshipped(platform);
  await eventually('every confirmed order to be shipped', { withinMs, seen: unshipped }, async () => {
    return (await unshipped()).length === 0;
  });
}

async function findUnshipped({ query }: TestPlatform): Promise<readonly string[]> {
  const confirmed = await query<{ id: string }>('orders', `SELECT id FROM orders WHERE status = 'Confirmed'`);
  const shipped = await query<{ OrderId: string }>('shipping', 'SELECT "OrderId" FROM "Shipments"');
  const ids = new Set(shipped.map(({ OrderId }) => OrderId));
  return confirmed.filter(({ id }) => !ids.has(id)).map(({ id }) => id);
}

/**
 * What does not balance over the five databases, one sentence each; empty when all is well. To be read when nothing is in
 * work. It is the tests' own count, so that an error in `shopctl audit` cannot hide one of the services.
 */
export async function findImbalances(platform: TestPlatform): Promise<readonly string[]> {
  const { query } = platform;
  const [orders, outbox, reservations, inventory, payments, effects, inbox, shipments, parcels] = await Promise.all([
    query<{
      id: string;
      status: string | null;
      open: boolean;
      total: number;
      lines: { productId: number; quantity: number }[];
    }>('orders', 'SELECT id, status, open, total_kopiykas::int AS total, lines FROM orders'),
    query<{ order_id: string; published: boolean }>(
      'orders',
      'SELECT order_id, published_at IS NOT NULL AS published FROM outbox',
    ),
    query<{ order_id: string; state: string; lines: { productId: number; quantity: number }[] }>(
      'stock',
      'SELECT order_id, state, lines FROM reservations',
    ),
    query<{ product_id: number; taken: number }>(
      'stock',
      'SELECT product_id, initial_on_hand - on_hand AS taken FROM inventory',
    ),
    query<{ order_id: string; state: string; amount: number | null }>(
      'payments',
      'SELECT order_id, state, amount_kopiykas::int AS amount FROM payments',
    ),
    query<{ order_id: string; kind: string }>('payments', 'SELECT order_id, kind FROM payment_effects'),
    query<{ order_id: string }>('shipping', 'SELECT order_id FROM inbox'),
    query<{ OrderId: string }>('shipping', 'SELECT "OrderId" FROM "Shipments"'),
    query<{ order_id: string }>('shipping', 'SELECT order_id FROM parcels'),
  ]);
  const faults: string[] = [];
  const timesOf = (ids: readonly string[], id: string) => ids.filter((other) => other === id).length;
  const expectTimes = (what: string, ids: readonly string[], id: string, times: number) => {
    const actual = timesOf(ids, id);
    if (actual !== times) faults.push(`order ${id}: ${actual} ${what}, expected ${times}`);
  };
  const accepted = payments.filter(({ state }) => state === 'accepted' || state === 'attempted');
  const effectsOf = (kind: string) => effects.filter((one) => one.kind === kind).map(({ order_id }) => order_id);
  const refunds = effectsOf('refund');
  const reserved = reservations.filter(({ state }) => state === 'reserved');
  for (const { id, status, open, total } of orders) {
    const times = status === 'Confirmed' ? 1 : 0;
    if (open) faults.push(`order ${id}: its saga has not ended`);
    expectTimes(
      'charges',
      accepted.map(({ order_id }) => order_id),
      id,
      times,
    );
    expectTimes(
      'reservations',
      reserved.map(({ order_id }) => order_id),
      id,
      times,
    );
    expectTimes(
      'published events',
      outbox.filter(({ published }) => published).map(({ order_id }) => order_id),
      id,
      times,
    );
    expectTimes(
      'outbox rows',
      outbox.map(({ order_id }) => order_id),
      id,
      times,
    );
    expectTimes(
      'inbox rows',
      inbox.map(({ order_id }) => order_id),
      id,
      times,
    );
    expectTimes(
      'shipments',
      shipments.map(({ OrderId }) => OrderId),
      id,
      times,
    );
    expectTimes(
      'parcels',
      parcels.map(({ order_id }) => order_id),
      id,
      times,
    );
    expectTimes('charges made', effectsOf('charge'), id, times + timesOf(refunds, id));
    if (timesOf(refunds, id) > 1) faults.push(`order ${id}: refunded more than once`);
    const charge = accepted.find(({ order_id }) => order_id === id);
    if (charge !== undefined && charge.amount !== total)
      faults.push(`order ${id}: charged ${charge.amount}, total ${total}`);
  }
  const known = new Set(orders.map(({ id }) => id));
  for (const { order_id } of [...accepted, ...reserved, ...inbox]) {
    if (!known.has(order_id)) faults.push(`order ${order_id}: it is recorded elsewhere and not in orders`);
  }
  for (const { product_id, taken } of inventory) {
    const units = reserved
      .flatMap(({ lines }) => lines)
      .filter(({ productId }) => productId === product_id)
      .reduce((sum, { quantity }) => sum + quantity, 0);
    if (units !== taken) faults.push(`product ${product_id}: ${taken} units taken, ${units} reserved`);
  }
  return faults;
}
