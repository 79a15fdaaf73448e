import type { HttpResponse } from '@shop/kit/http-client.ts';
import type { Journal } from './journal.ts';
import { shortId } from './orders-store.ts';

/** Above it payments declines (docs/errors.md, `payment_declined`). */
export const PAYMENT_LIMIT_KOPIYKAS = 5_000_000;

export interface StockDefects {
  readonly noTombstone?: boolean;
  readonly noIdempotency?: boolean;
}

interface StockLine {
  readonly productId: number;
  readonly quantity: number;
}

/** The stock service: the first result of a key is repeated, and a release refuses every reserve to come. */
export function createStockModel(inventory: ReadonlyMap<number, number>, journal: Journal, defects: StockDefects) {
  const onHand = new Map(inventory);
  const reservations = new Map<
    string,
    { state: 'reserved' | 'insufficient' | 'released'; lines: readonly StockLine[] }
  >();

  function move(lines: readonly StockLine[], sign: 1 | -1): void {
    for (const { productId, quantity } of lines) {
      const units = (onHand.get(productId) ?? 0) + sign * quantity;
      if (units < 0) journal.violated(`I5 stock of product ${productId} is ${units}`);
      onHand.set(productId, units);
    }
  }

  return {
    onHand: onHand as ReadonlyMap<number, number>,
    initial: inventory,
    reserve(orderId: string, lines: readonly StockLine[]) {
      const earlier = reservations.get(orderId);
      if (earlier !== undefined && !defects.noIdempotency) return earlier.state;
      const enough = lines.every(({ productId, quantity }) => (onHand.get(productId) ?? 0) >= quantity);
      const state = enough ? 'reserved' : 'insufficient';
      if (enough) move(lines, -1);
      reservations.set(orderId, { state, lines: enough ? lines : [] });
      journal.note('stock', `${shortId(orderId)} ${state}`);
      return state;
    },
    release(orderId: string) {
      const earlier = reservations.get(orderId);
      if (earlier === undefined && defects.noTombstone) return;
      if (earlier?.state === 'reserved') move(earlier.lines, 1);
      if (earlier?.state !== 'released') journal.note('stock', `${shortId(orderId)} released`);
      reservations.set(orderId, { state: 'released', lines: [] });
    },
  };
}

export interface PaymentsDefects {
  readonly noTombstone?: boolean;
  readonly noIdempotency?: boolean;
}

/** The payments service: an attempt is written before its outcome, and a refund refuses every charge to come. */
export function createPaymentsModel(journal: Journal, defects: PaymentsDefects) {
  type State = 'attempted' | 'accepted' | 'declined' | 'refunded' | 'voided';
  const payments = new Map<string, State>();
  const net = new Map<string, number>();

  function set(orderId: string, state: State): void {
    payments.set(orderId, state);
    journal.note('payments', `${shortId(orderId)} ${state}`);
  }

  return {
    /** Charges minus refunds, in kopiykas. */
    netOf: (orderId: string) => net.get(orderId) ?? 0,
    charge(orderId: string, amount: number, { halfDone }: { halfDone: boolean }): HttpResponse {
      const earlier = payments.get(orderId);
      if (earlier === 'refunded' || earlier === 'voided') return { status: 409, body: undefined };
      if (earlier === 'declined') return { status: 402, body: undefined };
      if (earlier === 'accepted' && !defects.noIdempotency) return { status: 200, body: undefined };
      if (earlier === undefined) set(orderId, 'attempted');
      if (halfDone) return { status: 500, body: undefined };
      const accepted = amount <= PAYMENT_LIMIT_KOPIYKAS;
      if (accepted) net.set(orderId, (net.get(orderId) ?? 0) + amount);
      set(orderId, accepted ? 'accepted' : 'declined');
      return { status: accepted ? 201 : 402, body: undefined };
    },
    refund(orderId: string): HttpResponse {
      const earlier = payments.get(orderId);
      if (earlier === undefined && defects.noTombstone) return { status: 200, body: undefined };
      if (earlier === 'accepted') {
        net.set(orderId, 0);
        set(orderId, 'refunded');
      } else if (earlier === undefined || earlier === 'attempted') set(orderId, 'voided');
      return { status: 200, body: undefined };
    },
  };
}

export type StockModel = ReturnType<typeof createStockModel>;
export type PaymentsModel = ReturnType<typeof createPaymentsModel>;
