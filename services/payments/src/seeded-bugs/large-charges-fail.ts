import type { Payments } from '../payments.ts';

const LARGE_KOPIYKAS = 100_000;

/** Seeded bug `large-charges-fail`: a charge of more than 1,000 UAH is not made, and its response is an error. */
export function failingLargeCharges(payments: Payments): Payments {
  return {
    ...payments,
    async charge(charge) {
      if (charge.amount > LARGE_KOPIYKAS) throw new RangeError(`payments: ${charge.amount} is too large`);
      return payments.charge(charge);
    },
  };
}
