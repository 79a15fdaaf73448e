import { CliError, messageOf } from '../errors.ts';
import { type DatabaseName, databaseNames } from '../topology/databases.ts';
import type { InventoryFact, OrderFacts, PriceFact } from './facts.ts';
import { isForgotten } from './horizon.ts';
import { mergeFacts } from './merge.ts';
import {
  effectRows,
  inboxRows,
  orderRows,
  outboxRows,
  parcelRows,
  paymentRows,
  type RowSource,
  reservationRows,
  type Scope,
  shipmentRows,
} from './rows.ts';
import { type GroupReader, openGroups, openSnapshot, type Snapshot } from './snapshot.ts';
import type { AuditTarget } from './target.ts';

/** The five databases, each at one moment. */
export interface Ledger extends AsyncDisposable {
  /** Before any of them was looked at, ms since 1970 by the clock of the orders' database. */
  readonly at: number;
  /** Databases that cannot be read, with the reason. */
  readonly missing: ReadonlyMap<DatabaseName, string>;
  /**
   * Every order in turn. Orders known only to others come last, once it is certain that there is no such order. Those
   * from before the audit's horizon may have been deleted and do not come.
   */
  facts(scope: Scope): AsyncGenerator<OrderFacts>;
  inventory(): Promise<readonly InventoryFact[]>;
  /** Every price of every product, in the order of their times; none where the catalog cannot be read. */
  prices(): Promise<readonly PriceFact[]>;
}

/** Facts without an order that are held back until their orders were looked for. */
const ORPHAN_BATCH_SIZE = 1_000;

/** What a ledger is read from. */
export type LedgerSource = Pick<AuditTarget, 'databaseUrls' | 'databases' | 'openSnapshot'>;

/**
 * Opens the ledger. No snapshot holds two databases, so what follows is looked at before what it follows from. A shipment follows
 * from a Confirmed order, and that from a reservation, a charge and the catalog's prices. Whatever is in one snapshot is explained
 * by a later one (decision 0129). What may still come after the time `at` is not late in any of them.
 */
export async function openLedger(target: LedgerSource): Promise<Ledger> {
  const { openSnapshot: openOne = openSnapshot } = target;
  const missing = new Map<DatabaseName, string>();
  const snapshots = new Map<DatabaseName, Snapshot>();
  const open = async (database: DatabaseName) => {
    try {
      snapshots.set(database, await openOne(target.databaseUrls[database]));
    } catch (error) {
      missing.set(database, `the ${database} database cannot be read: ${messageOf(error)}`);
    }
  };
  const at = await timeOf(target);
  await open('shipping');
  await open('orders');
  await Promise.all(databaseNames.filter((name) => name !== 'orders' && name !== 'shipping').map(open));

  async function groups<Fact>(source: RowSource<Fact>, scope: Scope): Promise<GroupReader<Fact>> {
    const snapshot = snapshots.get(source.database);
    return snapshot === undefined ? NO_ROWS : openGroups(snapshot, source, scope);
  }

  return {
    at,
    missing,
    async *facts(scope) {
      const merged = mergeFacts({
        order: await groups(orderRows, scope),
        outbox: await groups(outboxRows, scope),
        payments: await groups(paymentRows, scope),
        effects: await groups(effectRows, scope),
        reservations: await groups(reservationRows, scope),
        inbox: await groups(inboxRows, scope),
        shipments: await groups(shipmentRows, scope),
        parcels: await groups(parcelRows, scope),
      });
      let strays: OrderFacts[] = [];
      for await (const facts of merged) {
        if (facts.order !== undefined) yield facts;
        else if (!isForgotten(facts, at)) strays.push(facts);
        if (strays.length >= ORPHAN_BATCH_SIZE) {
          yield* await withoutOrder(target, strays);
          strays = [];
        }
      }
      yield* await withoutOrder(target, strays);
    },
    async inventory() {
      const snapshot = snapshots.get('stock');
      return snapshot === undefined ? [] : readInventory(snapshot);
    },
    async prices() {
      const snapshot = snapshots.get('catalog');
      return snapshot === undefined ? [] : readPrices(snapshot);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...snapshots.values()].map((snapshot) => snapshot[Symbol.asyncDispose]()));
    },
  };
}

const NO_ROWS: GroupReader<never> = { next: async () => undefined, take: async () => [] };

/** Where that database does not respond, no order is compared with it. */
async function timeOf({ databases }: LedgerSource): Promise<number> {
  const text = 'SELECT (extract(epoch FROM now()) * 1000)::float8 AS at';
  const rows = await databases.query<{ at: number }>('orders', text).catch((error: unknown) => {
    if (error instanceof CliError) return [];
    throw error;
  });
  return rows[0]?.at ?? Date.now();
}

/** Drops those whose order is there after all: placed after the snapshot, or before the time that is audited. */
async function withoutOrder(target: LedgerSource, strays: readonly OrderFacts[]): Promise<readonly OrderFacts[]> {
  if (strays.length === 0) return [];
  const rows = await target.databases.query<{ id: string }>(
    'orders',
    'SELECT id::text FROM orders WHERE id = ANY ($1::uuid[])',
    [strays.map(({ orderId }) => orderId)],
  );
  const known = new Set(rows.map(({ id }) => id));
  return strays.filter(({ orderId }) => !known.has(orderId));
}

async function readInventory(snapshot: Snapshot): Promise<readonly InventoryFact[]> {
  const { rows } = await snapshot.query<InventoryFact>(
    `WITH taken AS (
       SELECT (line ->> 'productId')::int AS product_id, sum((line ->> 'quantity')::bigint) AS units
       FROM reservations, jsonb_array_elements(lines) AS line WHERE state = 'reserved' GROUP BY 1)
     SELECT coalesce(i.product_id, t.product_id) AS "productId", coalesce(i.on_hand, 0) AS "onHand",
       coalesce(i.initial_on_hand, 0) AS "initialOnHand", coalesce(t.units, 0)::float8 AS reserved
     FROM inventory i FULL JOIN taken t USING (product_id) ORDER BY 1`,
  );
  return rows;
}

async function readPrices(snapshot: Snapshot): Promise<readonly PriceFact[]> {
  const { rows } = await snapshot.query<PriceFact>(
    `SELECT product_id AS "productId", price_kopiykas::float8 AS "priceKopiykas", currency,
       (extract(epoch FROM valid_from) * 1000)::float8 AS "validFrom"
     FROM product_prices ORDER BY product_id, valid_from`,
  );
  return rows;
}
