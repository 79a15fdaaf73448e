export interface Line {
  readonly productId: number;
  readonly quantity: number;
}

/** reserved -> released; insufficient; released is also the tombstone of an order released before it was reserved. */
export type ReservationState = 'reserved' | 'insufficient' | 'released';

/** What is kept of an order. A tombstone has neither key nor lines. */
export interface Reservation {
  readonly orderId: string;
  readonly state: ReservationState;
  readonly reserveKey: string | undefined;
  /** The requested lines, each product once, by product id. It is out of stock only while the state is `reserved`. */
  readonly lines: readonly Line[];
  readonly insufficientProductIds: readonly number[];
}

export interface ReserveRequest {
  readonly orderId: string;
  readonly idempotencyKey: string;
  readonly lines: readonly Line[];
}

/** Business results, not errors: the caller gets each with the status OK. */
export type ReserveOutcome =
  | { readonly outcome: 'reserved' }
  | { readonly outcome: 'insufficient'; readonly productIds: readonly number[] }
  | { readonly outcome: 'released' };

/** The idempotency key, or the order, was used with another request. */
export class KeyReusedError extends Error {
  override readonly name = 'KeyReusedError';
}

/** Each product once with the sum of its quantities, by product id: the order in which rows are locked. */
export function mergeLines(lines: readonly Line[]): readonly Line[] {
  const quantities = new Map<number, number>();
  for (const { productId, quantity } of lines) {
    quantities.set(productId, (quantities.get(productId) ?? 0) + quantity);
  }
  return [...quantities]
    .map(([productId, quantity]) => ({ productId, quantity }))
    .sort((a, b) => a.productId - b.productId);
}

/** The first outcome, for a call that finds its order taken. Throws KeyReusedError when it is not the same call. */
export function repeatOutcome(request: ReserveRequest, existing: Reservation): ReserveOutcome {
  // A release is final, whatever the late call carries.
  if (existing.state === 'released') return { outcome: 'released' };
  if (existing.reserveKey !== request.idempotencyKey) {
    throw new KeyReusedError('the order was reserved under another idempotency key');
  }
  if (!sameLines(mergeLines(request.lines), existing.lines)) {
    throw new KeyReusedError('the idempotency key was used with other lines');
  }
  if (existing.state === 'reserved') return { outcome: 'reserved' };
  return { outcome: 'insufficient', productIds: existing.insufficientProductIds };
}

function sameLines(wanted: readonly Line[], kept: readonly Line[]): boolean {
  return (
    wanted.length === kept.length &&
    wanted.every((line, index) => line.productId === kept[index]?.productId && line.quantity === kept[index]?.quantity)
  );
}
