import { type Queryable, sql } from '@shop/kit/database.ts';
import type { Payments } from '../payments.ts';

const chargeAgain = sql(
  'INSERT payment_effects: seeded bug',
  `INSERT INTO payment_effects (order_id, kind, amount_kopiykas, currency) VALUES ($1, 'charge', $2, $3)`,
);

/** Seeded bug `charged-twice`: a repeated charge takes the money again; the row of the payment is written once. */
export function chargingAgain(payments: Payments, database: Queryable): Payments {
  return {
    ...payments,
    async charge(charge) {
      const result = await payments.charge(charge);
      if (result.outcome === 'accepted' && !result.first)
        await database.query(chargeAgain, [charge.orderId, charge.amount, charge.currency]);
      return result;
    },
  };
}
