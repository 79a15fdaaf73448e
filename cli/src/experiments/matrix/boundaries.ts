import { edges } from '@shop/kit/edges.ts';
import type { failpointPlaces } from '../../chaos/failpoint-names.ts';
import { CliError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { suggestName } from '../../platform/graph.ts';
import type { ServiceName } from '../../topology/services.ts';

/** `orders.S4`: a failpoint at which an order can be held. */
export type BoundaryName = {
  [S in ServiceName]: `${S}.${(typeof failpointPlaces)[S][number]['at']}`;
}[ServiceName];

/**
 * What has to happen for a boundary to be passed, and so which boundaries can be held at the same time:
 * `request`: any order, on its way through gateway and orders. `provider`: any order, inside a service it asks.
 * `declined`: an order that payments refuses. `refunded`: an order whose charge has no clear outcome. `relay`: any order's
 * event; one at a time, because the relay waits as a whole. `delivery`: any order's event at shipping.
 */
export type OrderPath = 'request' | 'provider' | 'declined' | 'refunded' | 'relay' | 'delivery';

/** Complete: a failpoint without an entry does not compile. */
const PATHS = {
  'gateway.G1': 'request',
  'gateway.G2': 'request',
  'orders.S0': 'request',
  'orders.S2': 'request',
  'orders.S1': 'request',
  'orders.S4': 'request',
  'orders.S5': 'request',
  'orders.S6': 'request',
  'orders.S7': 'request',
  'orders.S8': 'request',
  'orders.C1': 'request',
  'orders.S9': 'request',
  'orders.A1': 'request',
  'orders.S10': 'request',
  'orders.K1': 'declined',
  'orders.K2': 'declined',
  'orders.K3': 'declined',
  'orders.K5': 'declined',
  'orders.R1': 'relay',
  'orders.R2': 'relay',
  'orders.R3': 'relay',
  'orders.R4': 'relay',
  'catalog.P0': 'provider',
  'catalog.P1': 'provider',
  'stock.P0': 'provider',
  'stock.P1': 'provider',
  'stock.C1': 'provider',
  'stock.P2': 'provider',
  'stock.P4': 'declined',
  'stock.P3': 'declined',
  'payments.P0': 'provider',
  'payments.P1': 'provider',
  'payments.P2': 'provider',
  'payments.P4': 'refunded',
  'payments.P3': 'refunded',
  'shipping.H1': 'delivery',
  'shipping.H2': 'delivery',
  'shipping.C1': 'delivery',
  'shipping.H3': 'delivery',
  'shipping.H4': 'delivery',
} as const satisfies Record<BoundaryName, OrderPath>;

/** A place at which an order is held while a fault is injected. */
export interface Boundary {
  readonly name: BoundaryName;
  readonly service: ServiceName;
  /** Its name inside its service: `S4`. */
  readonly at: string;
  readonly path: OrderPath;
  /**
   * How long an order is held, ms. Below the time limit of whoever waits for it: holding alone must change nothing, or a
   * failure would say nothing about the fault.
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

/** `orders.S4`, or `S4` where one service only has it. Throws CliError (2) with what it could have been. */
export function findBoundary(text: string): Boundary {
  const wanted = text.toLowerCase();
  const found = boundaries.filter(({ name, at }) => [name, at].some((one) => one.toLowerCase() === wanted));
  if (found[0] !== undefined && found.length === 1) return found[0];
  const names = boundaries.map(({ name }) => name);
  const suggestion = suggestName(text, names);
  throw new CliError({
    what:
      found.length > 1
        ? `several services have a boundary "${text}"`
        : `there is no boundary "${text}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`,
    next: `name one of ${(found.length > 1 ? found.map(({ name }) => name) : names).join(', ')}`,
    exitCode: exitCodes.usage,
  });
}
