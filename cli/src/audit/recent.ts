import { checkOrders } from './check-orders.ts';
import { type LedgerSource, openLedger } from './collect.ts';
import type { OrderFacts, PriceFact } from './facts.ts';
import type { Violation, ViolationKind } from './invariant.ts';
import { inboxMatches } from './invariants/inbox.ts';
import { moneyMatches } from './invariants/money.ts';
import { pricesAreOfCatalog } from './invariants/prices.ts';
import { shipmentsMatch } from './invariants/shipments.ts';
import { checkInventory, stockMatches } from './invariants/stock.ts';

/** What must hold of an order some seconds after it was placed, whatever else happens. */
const invariantsWith = (prices: readonly PriceFact[]) =>
  [moneyMatches, stockMatches, shipmentsMatch, inboxMatches, pricesAreOfCatalog(prices)] as const;

export const RECENT_INVARIANTS = invariantsWith([]).map(({ id, title }) => ({ id, title }));

/** What can be wrong by these invariants. */
export const RECENT_KINDS: readonly ViolationKind[] = ['lost', 'unexpected', 'duplicated', 'wrong'];

/** An order that is younger may still be in work, or its rows on their way. In ms. */
const RECENT_AGE_MS = 30_000;

export interface RecentViolation extends Violation {
  readonly invariant: string;
  /** Of an order that is known: when it was placed, ms since 1970. */
  readonly placedAt?: number;
}

export interface RecentLook {
  /** By the database's clock, ms since 1970. */
  readonly at: number;
  /** Orders that were checked. */
  readonly orders: number;
  readonly violations: readonly RecentViolation[];
  /** Invariants that could not be checked, with the reason. */
  readonly unknown: ReadonlyMap<string, string>;
  /** When the oldest of the orders was placed that are open, or confirmed and not shipped; ms since 1970. */
  readonly unfinishedSince: number | undefined;
}

/**
 * Checks the orders placed since, but for those of the last 30 s. Waits for nothing and reads only. An order whose rows are
 * of later than `sinceMs` but which was placed before is not checked.
 */
export async function lookAtRecent(source: LedgerSource, sinceMs: number): Promise<RecentLook> {
  await using ledger = await openLedger(source);
  const { at, missing } = ledger;
  const placed = new Map<string, number>();
  let orders = 0;
  let unfinishedSince: number | undefined;
  async function* oldEnough() {
    for await (const facts of ledger.facts({ sinceMs })) {
      if (at - newestOf(facts) < RECENT_AGE_MS) continue;
      orders++;
      if (facts.order !== undefined) {
        placed.set(facts.orderId, facts.order.createdAt);
        if (!isFinished(facts)) unfinishedSince = Math.min(unfinishedSince ?? at, facts.order.createdAt);
      }
      yield facts;
    }
  }
  const invariants = invariantsWith(await ledger.prices());
  const results = await checkOrders(invariants, oldEnough(), { clock: { at, settledAt: undefined }, missing });
  const ofOrders = results.flatMap(({ id, violations }) =>
    violations.map((violation) => {
      const placedAt = placed.get(violation.orderId ?? '');
      return { ...violation, invariant: id, ...(placedAt !== undefined && { placedAt }) };
    }),
  );
  const inventory = missing.has('stock') ? [] : await ledger.inventory();
  const ofProducts = checkInventory(inventory).map((one) => ({ ...one, invariant: stockMatches.id }));
  const unknown = results.filter(({ verdict }) => verdict === 'unknown');
  return {
    at,
    orders,
    violations: [...ofOrders, ...ofProducts],
    unknown: new Map(unknown.map(({ id, evidence }) => [id, evidence])),
    unfinishedSince,
  };
}

/** When the order was placed; of rows without an order, when the newest was changed. */
function newestOf({ order, outbox, ...rows }: OrderFacts): number {
  if (order !== undefined) return order.createdAt;
  const dated = [rows.payments, rows.effects, rows.reservations, rows.inbox, rows.shipments, rows.parcels].flat();
  return Math.max(...dated.map(({ changedAt }) => changedAt), ...outbox.map(({ createdAt }) => createdAt));
}

function isFinished({ order, shipments }: OrderFacts): boolean {
  return order?.open !== true && (order?.status !== 'Confirmed' || shipments.length > 0);
}
