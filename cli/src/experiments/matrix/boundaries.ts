import { edges } from '@shop/kit/edges.ts';
import type { FailpointName, FailpointService } from '@shop/kit/failpoint-names.ts';
import { CliError } from '../../errors.ts';
import { suggestName } from '../../shared/suggest-name.ts';
import type { ServiceName } from '../../topology/services.ts';

/** `orders.stock-reserved:unsaved`: a failpoint at which an order can be held. */
export type BoundaryName = {
  [S in FailpointService]: `${S}.${FailpointName<S>}`;
}[FailpointService];

/**
 * What has to happen for a boundary to be passed, and so which boundaries can be held at the same time. `request`: any
 * order, on its way through gateway and orders. `provider`: any order, inside a service it asks. `declined`: an order
 * that payments refuses. `refunded`: an order whose charge has no clear outcome. `relay`: any order's event; one at a
 * time, because the relay waits as a whole. `delivery`: any order's event at shipping.
 */
export type OrderPath = 'request' | 'provider' | 'declined' | 'refunded' | 'relay' | 'delivery';

/** Complete: a failpoint without an entry does not compile. */
const PATHS = {
  'gateway.request-received:unforwarded': 'request',
  'gateway.response-received:unforwarded': 'request',
  'orders.order-received:unrecorded': 'request',
  'orders.products-read:unrecorded': 'request',
  'orders.order-started:saved': 'request',
  'orders.stock-reserved:unsaved': 'request',
  'orders.stock-reserved:saved': 'request',
  'orders.payment-charged:unsaved': 'request',
  'orders.payment-charged:saved': 'request',
  'orders.order-confirmed:unsaved': 'request',
  'orders.order-confirmed:unacknowledged': 'request',
  'orders.order-confirmed:saved': 'request',
  'orders.order-decided:response-unsent': 'request',
  'orders.order-decided:response-sent': 'request',
  'orders.step-failed:unsaved': 'declined',
  'orders.step-failed:saved': 'declined',
  'orders.step-compensated:unsaved': 'declined',
  'orders.order-compensated:saved': 'declined',
  'orders.batch-claimed:unpublished': 'relay',
  'orders.event-published:unconfirmed': 'relay',
  'orders.event-confirmed:unmarked': 'relay',
  'orders.batch-marked:committed': 'relay',
  'catalog.product-requested:unread': 'provider',
  'catalog.product-read:response-unsent': 'provider',
  'stock.reservation-requested:unrecorded': 'provider',
  'stock.reservation-decided:uncommitted': 'provider',
  'stock.transaction-committed:unacknowledged': 'provider',
  'stock.reservation-decided:response-unsent': 'provider',
  'stock.release-requested:unrecorded': 'declined',
  'stock.release-recorded:response-unsent': 'declined',
  'payments.charge-requested:unrecorded': 'provider',
  'payments.charge-attempted:undecided': 'provider',
  'payments.charge-decided:response-unsent': 'provider',
  'payments.refund-requested:unrecorded': 'refunded',
  'payments.refund-recorded:response-unsent': 'refunded',
  'shipping.message-received:unrecorded': 'delivery',
  'shipping.shipment-recorded:uncommitted': 'delivery',
  'shipping.transaction-committed:unacknowledged': 'delivery',
  'shipping.shipment-committed:message-unacknowledged': 'delivery',
  'shipping.shipment-committed:message-acknowledged': 'delivery',
} as const satisfies Record<BoundaryName, OrderPath>;

/** A place at which an order is held while a fault is injected. */
export interface Boundary {
  readonly name: BoundaryName;
  readonly service: ServiceName;
  /** Its name inside its service: `stock-reserved:unsaved`. */
  readonly at: string;
  readonly path: OrderPath;
  /**
   * How long an order is held, ms. Below the time limit of its caller: holding alone must change nothing, or a failure
   * would say nothing about the fault.
   */
  readonly holdMs: number;
}

/** Share of an attempt's time limit for which a provider may be held; the rest is for its work on a busy machine. */
const SHARE = 0.7;
/** Gateway, orders, relay and shipping: well below the budget of an order (9 s) and the broker's patience. ms. */
const HOLD_MS = 4_000;

const HOLDS: Readonly<Partial<Record<ServiceName, number>>> = {
  catalog: SHARE * edges['orders-catalog'].attemptTimeoutMs,
  stock: SHARE * edges['orders-stock'].attemptTimeoutMs,
  payments: SHARE * edges['orders-payments'].attemptTimeoutMs,
};

/** Every boundary, in the order in which an order passes them within its service. */
export const boundaries: readonly Boundary[] = (Object.keys(PATHS) as BoundaryName[]).map((name) => {
  const [service, at] = name.split('.') as [ServiceName, string];
  return { name, service, at, path: PATHS[name], holdMs: HOLDS[service] ?? HOLD_MS };
});

/** `orders.stock-reserved:unsaved`, or `stock-reserved:unsaved` where one service only has it. Throws CliError (2) with what it could have been. */
export function findBoundary(text: string): Boundary {
  const wanted = text.toLowerCase();
  const found = boundaries.filter(({ name, at }) => [name, at].some((one) => one.toLowerCase() === wanted));
  if (found[0] !== undefined && found.length === 1) return found[0];
  const names = boundaries.map(({ name }) => name);
  const suggestion = suggestName(text, names);
  throw new CliError({
    code: 'unknown_boundary',
    what:
      found.length > 1
        ? `several services have a boundary "${text}"`
        : `unknown boundary "${text}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`,
    next: `name one of ${(found.length > 1 ? found.map(({ name }) => name) : names).join(', ')}`,
  });
}
