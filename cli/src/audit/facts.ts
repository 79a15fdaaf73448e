/** What the five databases say about one order. Times are ms since 1970 by the database's clock, money is kopiykas. */
export interface OrderFacts {
  readonly orderId: string;
  /** Undefined when only others know of the order. */
  readonly order: OrderFact | undefined;
  readonly outbox: readonly OutboxFact[];
  readonly payments: readonly PaymentFact[];
  /** Charges and refunds that took effect, one after the other. */
  readonly effects: readonly EffectFact[];
  readonly reservations: readonly ReservationFact[];
  readonly inbox: readonly InboxFact[];
  readonly shipments: readonly ShipmentFact[];
  /** What left the house. */
  readonly parcels: readonly ParcelFact[];
}

export interface Line {
  readonly productId: number;
  readonly quantity: number;
}

export interface PricedLine extends Line {
  readonly priceKopiykas: number;
}

export interface OrderFact {
  readonly status: 'Confirmed' | 'Cancelled' | null;
  readonly reason: string | null;
  readonly state: string;
  /** Its saga has not ended. */
  readonly open: boolean;
  readonly lines: readonly PricedLine[];
  readonly totalKopiykas: number;
  readonly currency: string;
  readonly traceId: string | undefined;
  readonly createdAt: number;
  readonly decidedAt: number | undefined;
  readonly idempotencyKey: string | undefined;
}

export interface OutboxFact {
  readonly messageId: string;
  readonly type: string;
  readonly traceId: string | undefined;
  /** The event as it is published. */
  readonly event: EventFact;
  readonly createdAt: number;
  readonly publishedAt: number | undefined;
}

/** What an event says, in either version; undefined where it says nothing, or something of another kind. */
export interface EventFact {
  readonly id: string | undefined;
  readonly type: string | undefined;
  readonly source: string | undefined;
  readonly orderId: string | undefined;
  readonly totalKopiykas: number | undefined;
  readonly currency: string | undefined;
  /** Version 1 has no prices. */
  readonly lines: readonly (Line & { readonly priceKopiykas?: number })[];
}

/** A row of another database than the order's. */
export interface DatedFact {
  /** Its last change, ms since 1970 by the clock of its database. */
  readonly changedAt: number;
}

export interface PaymentFact extends DatedFact {
  readonly state: string;
  readonly amountKopiykas: number | undefined;
  readonly currency: string | undefined;
}

export interface EffectFact extends DatedFact {
  readonly kind: string;
  readonly amountKopiykas: number;
  readonly currency: string;
}

export interface ReservationFact extends DatedFact {
  readonly state: string;
  readonly lines: readonly Line[];
}

export interface InboxFact extends DatedFact {
  readonly messageId: string;
  readonly type: string;
}

export interface ShipmentFact extends DatedFact {
  readonly shipmentId: string;
  readonly lines: readonly Line[];
}

export interface ParcelFact extends DatedFact {
  readonly lines: readonly Line[];
}

/** Stock of one product, in one snapshot. */
export interface InventoryFact {
  readonly productId: number;
  readonly onHand: number;
  readonly initialOnHand: number;
  /** Units of all reservations in state `reserved`. */
  readonly reserved: number;
}

/** A price that a product has had until its next one. */
export interface PriceFact {
  readonly productId: number;
  readonly priceKopiykas: number;
  readonly currency: string;
  /** `-Infinity` where it is older than the record of prices. */
  readonly validFrom: number;
}

/** `1x2 5x1`: products with their units, in order of product, for comparison and for people. */
export function describeLines(lines: readonly Line[]): string {
  return lines
    .toSorted((a, b) => a.productId - b.productId)
    .map(({ productId, quantity }) => `${productId}x${quantity}`)
    .join(' ');
}
