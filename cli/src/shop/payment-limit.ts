/**
 * Largest total that payments accept, in kopiykas. Only worded by the command line; the decision
 * is made in `services/payments/src/payment.ts`, and a test keeps the two equal.
 */
export const PAYMENT_LIMIT_KOPIYKAS = 5_000_000;
