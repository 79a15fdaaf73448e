import { type Queryable, sql } from '@shop/kit/database.ts';
import type { PurgeLimits } from '@shop/kit/retention.ts';
import type { Line, Reservation, ReservationState } from './reservation.ts';

const insertReservation = sql(
  'INSERT reservations: reserve',
  `INSERT INTO reservations (order_id, reserve_key, state, lines)
   VALUES ($1, $2, 'reserved', $3)
   ON CONFLICT DO NOTHING`,
);

const insertTombstone = sql(
  'INSERT reservations: tombstone',
  `INSERT INTO reservations (order_id, release_key, state, released_at)
   VALUES ($1, $2, 'released', now())
   ON CONFLICT DO NOTHING`,
);

const updateInsufficient = sql(
  'UPDATE reservations: insufficient',
  `UPDATE reservations SET state = 'insufficient', insufficient_product_ids = $2
   WHERE order_id = $1 AND state = 'reserved'`,
);

const updateReleased = sql(
  'UPDATE reservations: release',
  `UPDATE reservations SET state = 'released', release_key = $2, released_at = now()
   WHERE order_id = $1 AND state = 'reserved'
   RETURNING lines`,
);

const selectReservation = sql(
  'SELECT reservations: by order',
  `SELECT order_id, state, reserve_key, lines, insufficient_product_ids FROM reservations WHERE order_id = $1`,
);

/**
 * Rows are locked by product id before any is changed. So orders with the same products in another sequence cannot wait
 * for each other; a product that does not exist is short as well. Nothing changes when anything is short.
 */
const takeUnits = sql(
  'UPDATE inventory: take',
  `WITH wanted AS (
     SELECT "productId" AS product_id, quantity FROM jsonb_to_recordset($1) AS line ("productId" integer, quantity integer)
   ), locked AS (
     SELECT inventory.product_id, inventory.on_hand, wanted.quantity
     FROM inventory JOIN wanted USING (product_id)
     ORDER BY inventory.product_id
     FOR UPDATE OF inventory
   ), short AS (
     SELECT wanted.product_id
     FROM wanted LEFT JOIN locked USING (product_id)
     WHERE locked.on_hand IS NULL OR locked.on_hand < wanted.quantity
   ), taken AS (
     UPDATE inventory SET on_hand = inventory.on_hand - locked.quantity
     FROM locked
     WHERE inventory.product_id = locked.product_id AND NOT EXISTS (SELECT FROM short)
   )
   SELECT product_id FROM short ORDER BY product_id`,
);

const returnUnits = sql(
  'UPDATE inventory: put back',
  `WITH returned AS (
     SELECT "productId" AS product_id, quantity FROM jsonb_to_recordset($1) AS line ("productId" integer, quantity integer)
   ), locked AS (
     SELECT inventory.product_id, returned.quantity
     FROM inventory JOIN returned USING (product_id)
     ORDER BY inventory.product_id
     FOR UPDATE OF inventory
   )
   UPDATE inventory SET on_hand = inventory.on_hand + locked.quantity
   FROM locked
   WHERE inventory.product_id = locked.product_id`,
);

/**
 * Units that a deleted reservation held were sold: they leave `initial_on_hand` in the same statement, so that what was there at first
 * is on hand or reserved at every moment. Products are locked in the order in which reservations lock them.
 */
const deleteReservations = sql(
  'DELETE reservations: purge',
  `WITH deleted AS (
     DELETE FROM reservations WHERE order_id = ANY (ARRAY(
       SELECT order_id FROM reservations
       WHERE created_at < now() - $1 * interval '1 day' AND coalesce(released_at < now() - $1 * interval '1 day', true)
       ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))
     RETURNING state, lines
   ), sold AS (
     SELECT "productId" AS product_id, sum(quantity) AS units
     FROM deleted, jsonb_to_recordset(lines) AS line ("productId" integer, quantity integer)
     WHERE state = 'reserved' GROUP BY 1
   ), locked AS (
     SELECT inventory.product_id, sold.units
     FROM inventory JOIN sold USING (product_id)
     ORDER BY inventory.product_id
     FOR UPDATE OF inventory
   ), written_off AS (
     UPDATE inventory SET initial_on_hand = inventory.initial_on_hand - locked.units
     FROM locked
     WHERE inventory.product_id = locked.product_id
   )
   SELECT count(*)::int AS count FROM deleted`,
);

/** False when the order, or the key, is taken. Waits for another transaction that is about to take it. */
export async function addReservation(
  transaction: Queryable,
  reservation: { orderId: string; reserveKey: string; lines: readonly Line[] },
): Promise<boolean> {
  const { orderId, reserveKey, lines } = reservation;
  const { count } = await transaction.query(insertReservation, [orderId, reserveKey, JSON.stringify(lines)]);
  return count === 1;
}

/** False when the order has a reservation, or the key another order. */
export async function addTombstone(transaction: Queryable, orderId: string, releaseKey: string): Promise<boolean> {
  const { count } = await transaction.query(insertTombstone, [orderId, releaseKey]);
  return count === 1;
}

/** Takes all lines out of stock, or none: then the ids of the products that are short. */
export async function takeFromInventory(transaction: Queryable, lines: readonly Line[]): Promise<readonly number[]> {
  const { rows } = await transaction.query<{ product_id: number }>(takeUnits, [JSON.stringify(lines)]);
  return rows.map((row) => row.product_id);
}

export async function returnToInventory(transaction: Queryable, lines: readonly Line[]): Promise<void> {
  await transaction.query(returnUnits, [JSON.stringify(lines)]);
}

export async function markInsufficient(
  transaction: Queryable,
  orderId: string,
  productIds: readonly number[],
): Promise<void> {
  await transaction.query(updateInsufficient, [orderId, productIds]);
}

/** The lines to put back; undefined when nothing of this order is reserved. */
export async function markReleased(
  transaction: Queryable,
  orderId: string,
  releaseKey: string,
): Promise<readonly Line[] | undefined> {
  const { rows } = await transaction.query<{ lines: readonly Line[] }>(updateReleased, [orderId, releaseKey]);
  return rows[0]?.lines;
}

/** Deletes at most `limit` reservations and tombstones that were changed last more than `days` ago; returns how many. */
export async function purgeReservations(database: Queryable, { days, limit }: PurgeLimits): Promise<number> {
  const { rows } = await database.query<{ count: number }>(deleteReservations, [days, limit]);
  return rows[0]?.count ?? 0;
}

interface ReservationRow {
  readonly order_id: string;
  readonly state: ReservationState;
  readonly reserve_key: string | null;
  readonly lines: readonly Line[];
  readonly insufficient_product_ids: readonly number[];
}

export async function findReservation(transaction: Queryable, orderId: string): Promise<Reservation | undefined> {
  const { rows } = await transaction.query<ReservationRow>(selectReservation, [orderId]);
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    orderId: row.order_id,
    state: row.state,
    reserveKey: row.reserve_key ?? undefined,
    lines: row.lines,
    insufficientProductIds: row.insufficient_product_ids,
  };
}
