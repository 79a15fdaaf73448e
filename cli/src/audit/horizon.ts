import { AUDIT_HORIZON_DAYS } from '@shop/kit/keep-days.ts';
import type { OrderFact, OrderFacts } from './facts.ts';

/** What the services delete is older than this (decision 0050). In ms. */
export const HORIZON_MS = AUDIT_HORIZON_DAYS * 24 * 3_600_000;

/** Rows of other databases than the order's. */
export type OtherRows = 'payments' | 'effects' | 'reservations' | 'inbox' | 'shipments' | 'parcels';

const ALL_OTHERS: readonly OtherRows[] = ['payments', 'effects', 'reservations', 'inbox', 'shipments', 'parcels'];

/** True when nothing of this order may have been deleted. `at` is the time of the snapshot, ms since 1970. */
export function isOrderWithinHorizon({ createdAt }: OrderFact, at: number): boolean {
  return at - createdAt <= HORIZON_MS;
}

/**
 * True when an order is compared with these rows: it is within the horizon, or one of them was changed within it. Of an
 * older order, or of one that is deleted, rows may be missing; what changes within the horizon is there and is checked.
 * Pure.
 */
export function areCompared(facts: OrderFacts, rows: readonly OtherRows[], at: number): boolean {
  if (facts.order !== undefined && isOrderWithinHorizon(facts.order, at)) return true;
  return rows.some((name) => facts[name].some(({ changedAt }) => at - changedAt <= HORIZON_MS));
}

/** True when rows that no order belongs to are too old to ask why. */
export function isForgotten(facts: OrderFacts, at: number): boolean {
  return facts.order === undefined && facts.outbox.length === 0 && !areCompared(facts, ALL_OTHERS, at);
}
