import { type Queryable, sql } from '@shop/kit/database.ts';
import type { Payments } from '../payments.ts';

const chargeAgain = sql(
  'UPDATE payments: seeded bug',
  `WITH charged AS (
     UPDATE payments SET amount_kopiykas = amount_kopiykas + $2, updated_at = now() WHERE order_id = $1
     RETURNING order_id, currency
   )
   INSERT INTO payment_effects (order_id, kind, amount_kopiykas, currency)
   SELECT order_id, 'charge', $2, currency FROM charged`,
);

/** Seeded bug `no-idempotency-key`: a repeated charge is one more charge. */
export function chargingEveryTime(payments: Payments, database: Queryable): Payments {
  return {
    ...payments,
    async charge(charge) {
      const result = await payments.charge(charge);
      if (result.outcome !== 'accepted' || result.first) return result;
      await database.query(chargeAgain, [charge.orderId, charge.amount]);
      return { outcome: 'accepted', first: true };
    },
  };
}
