/** Largest amount that is accepted, in kopiykas: 50,000 UAH (docs/errors.md, `payment_declined`). */
export const PAYMENT_LIMIT_KOPIYKAS = 5_000_000;

/**
 * attempted -> accepted -> refunded
 * attempted -> declined
 * attempted -> voided; voided is also the tombstone of an order that was refunded before it was charged.
 */
export type PaymentState = 'attempted' | 'accepted' | 'declined' | 'refunded' | 'voided';

/** The terms of a charge. Money is in minor units (kopiykas). */
export interface Charge {
  readonly orderId: string;
  readonly idempotencyKey: string;
  readonly amount: number;
  readonly currency: string;
}

/** What is kept of an order's payment; a tombstone has neither key nor amount. */
export interface Payment {
  readonly orderId: string;
  readonly state: PaymentState;
  readonly chargeKey: string | undefined;
  readonly amount: number | undefined;
  readonly currency: string | undefined;
}

export type ChargeDecision = 'accepted' | 'declined';

/** What the bank of this shop says: a total up to the limit is accepted, the limit itself included. */
export function decide(amount: number): ChargeDecision {
  return amount > PAYMENT_LIMIT_KOPIYKAS ? 'declined' : 'accepted';
}

/** How a charge ends. `first` is false when an earlier call with the same key had this result already. */
export type ChargeResult =
  | { readonly outcome: ChargeDecision; readonly first: boolean }
  | { readonly outcome: 'voided' }
  | { readonly outcome: 'key reused'; readonly detail: string };

/** Result of a charge whose order, or key, has a payment already. */
export type Repeat = ChargeResult | 'complete the attempt';

/** Pure: `existing` is what the same order or the same key has already. */
export function resolveRepeat(charge: Charge, existing: Payment): Repeat {
  // A void is final, whatever the key of the late charge.
  if (existing.orderId === charge.orderId && isVoided(existing.state)) return { outcome: 'voided' };
  const difference = differenceBetween(charge, existing);
  if (difference !== undefined) return { outcome: 'key reused', detail: difference };
  switch (existing.state) {
    case 'attempted':
      return 'complete the attempt';
    case 'accepted':
    case 'declined':
      return { outcome: existing.state, first: false };
    case 'refunded':
    case 'voided':
      return { outcome: 'voided' };
    default:
      return assertNever(existing.state);
  }
}

function isVoided(state: PaymentState): boolean {
  return state === 'refunded' || state === 'voided';
}

function differenceBetween(charge: Charge, existing: Payment): string | undefined {
  if (existing.orderId !== charge.orderId) return 'the key was used for another order';
  if (existing.chargeKey !== charge.idempotencyKey) return 'the order was charged under another key';
  if (existing.amount !== charge.amount) return 'the key was used with another amount';
  if (existing.currency !== charge.currency) return 'the key was used with another currency';
  return undefined;
}

function assertNever(state: never): never {
  throw new TypeError(`unknown payment state ${String(state)}`);
}
