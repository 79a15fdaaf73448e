import { type Queryable, sql } from '@shop/kit/database.ts';
import type { PurgeLimits } from '@shop/kit/retention.ts';
import type { Charge, ChargeDecision, Payment, PaymentState } from './payment.ts';

/** `bigint` arrives as text; amounts are below 2^53, which the routes check. */
interface PaymentRow {
  readonly order_id: string;
  readonly state: PaymentState;
  readonly charge_key: string | null;
  readonly amount_kopiykas: string | null;
  readonly currency: string | null;
}

const insertAttempt = sql(
  'INSERT payments: attempt',
  `INSERT INTO payments (order_id, charge_key, amount_kopiykas, currency, state)
   VALUES ($1, $2, $3, $4, 'attempted')
   ON CONFLICT DO NOTHING`,
);

const updateOutcome = sql(
  'UPDATE payments: outcome',
  `WITH decided AS (
     UPDATE payments SET state = $3, updated_at = now()
     WHERE order_id = $1 AND charge_key = $2 AND state = 'attempted'
     RETURNING order_id, state, amount_kopiykas, currency
   ), effect AS (
     INSERT INTO payment_effects (order_id, kind, amount_kopiykas, currency)
     SELECT order_id, 'charge', amount_kopiykas, currency FROM decided WHERE state = 'accepted'
   )
   SELECT FROM decided`,
);

const updateRefunded = sql(
  'UPDATE payments: refund',
  `WITH changed AS (
     UPDATE payments
     SET state = CASE state WHEN 'accepted' THEN 'refunded' ELSE 'voided' END, refund_key = $2, updated_at = now()
     WHERE order_id = $1 AND state IN ('accepted', 'attempted')
     RETURNING order_id, state, charge_key, amount_kopiykas, currency
   ), effect AS (
     INSERT INTO payment_effects (order_id, kind, amount_kopiykas, currency)
     SELECT order_id, 'refund', amount_kopiykas, currency FROM changed WHERE state = 'refunded'
   )
   SELECT order_id, state, charge_key, amount_kopiykas, currency FROM changed`,
);

const insertTombstone = sql(
  'INSERT payments: tombstone',
  `INSERT INTO payments (order_id, refund_key, state)
   VALUES ($1, $2, 'voided')
   ON CONFLICT DO NOTHING
   RETURNING order_id, state, charge_key, amount_kopiykas, currency`,
);

const selectByOrder = sql(
  'SELECT payments: by order',
  'SELECT order_id, state, charge_key, amount_kopiykas, currency FROM payments WHERE order_id = $1',
);

const selectByChargeKey = sql(
  'SELECT payments: by charge key',
  'SELECT order_id, state, charge_key, amount_kopiykas, currency FROM payments WHERE charge_key = $1',
);

/** An open attempt has not ended: it stays. What was charged and refunded is in `payment_effects`, which stays too. */
const deletePayments = sql(
  'DELETE payments: purge',
  `DELETE FROM payments WHERE order_id = ANY (ARRAY(
     SELECT order_id FROM payments
     WHERE created_at < now() - $1 * interval '1 day' AND updated_at < now() - $1 * interval '1 day' AND state <> 'attempted'
     ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))`,
);

/** The idempotency key belongs to another order. */
export const KEY_REUSED = 'key reused';

/** SQLSTATE of a row that another one already has the unique value of. */
const UNIQUE_VIOLATION = '23505';

/**
 * Each is one statement that changes a payment only from the states it names. Those that charge or refund also append the
 * effect: of several concurrent callers exactly one changes the row and has the effect.
 */
export interface PaymentStore {
  /** False when the order, or the key, has a payment already. */
  addAttempt(charge: Charge): Promise<boolean>;
  /** False when the attempt is no longer open. */
  recordOutcome(charge: Charge, outcome: ChargeDecision): Promise<boolean>;
  /** Refunds an accepted or open charge; undefined when there is none. */
  refund(orderId: string, refundKey: string): Promise<Payment | typeof KEY_REUSED | undefined>;
  /** Refuses all charges to come; undefined when the order has a payment, or the key another order. */
  addTombstone(orderId: string, refundKey: string): Promise<Payment | undefined>;
  findByOrder(orderId: string): Promise<Payment | undefined>;
  findByChargeKey(chargeKey: string): Promise<Payment | undefined>;
}

export function createPaymentStore(database: Queryable): PaymentStore {
  async function one(statement: typeof selectByOrder, values: readonly unknown[]): Promise<Payment | undefined> {
    const { rows } = await database.query<PaymentRow>(statement, values);
    return rows[0] && toPayment(rows[0]);
  }

  return {
    async addAttempt({ orderId, idempotencyKey, amount, currency }) {
      const { count } = await database.query(insertAttempt, [orderId, idempotencyKey, amount, currency]);
      return count === 1;
    },
    async recordOutcome({ orderId, idempotencyKey }, outcome) {
      const { count } = await database.query(updateOutcome, [orderId, idempotencyKey, outcome]);
      return count === 1;
    },
    async refund(orderId, refundKey) {
      try {
        return await one(updateRefunded, [orderId, refundKey]);
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION) return KEY_REUSED;
        throw error;
      }
    },
    addTombstone: (orderId, refundKey) => one(insertTombstone, [orderId, refundKey]),
    findByOrder: (orderId) => one(selectByOrder, [orderId]),
    findByChargeKey: (chargeKey) => one(selectByChargeKey, [chargeKey]),
  };
}

/** Deletes at most `limit` payments that ended more than `days` ago; returns how many. */
export async function purgePayments(database: Queryable, { days, limit }: PurgeLimits): Promise<number> {
  return (await database.query(deletePayments, [days, limit])).count;
}

function toPayment(row: PaymentRow): Payment {
  return {
    orderId: row.order_id,
    state: row.state,
    chargeKey: row.charge_key ?? undefined,
    amount: row.amount_kopiykas === null ? undefined : Number(row.amount_kopiykas),
    currency: row.currency ?? undefined,
  };
}
