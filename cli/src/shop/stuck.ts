import { formatDuration } from '../shared/duration.ts';
import type { OrderRow } from './orders-table.ts';
import { failedRounds } from './saga-steps.ts';

/** An open saga older than this is stuck, in ms: three times the longest time an order may take. */
export const STUCK_AFTER_MS = 30_000;
/** More failed rounds of compensation than this are too many. */
export const STUCK_AFTER_ATTEMPTS = 3;

/** Why an open saga needs a look; empty when it does not. Pure. */
export function stuckReasons({ open, createdAt, readAt, owner, attempts }: OrderRow): string[] {
  if (!open) return [];
  const ageMs = readAt.getTime() - createdAt.getTime();
  return [
    ...(ageMs > STUCK_AFTER_MS ? [`open for ${formatDuration(ageMs)}`] : []),
    ...(owner.alive ? [] : ['its owner is gone']),
    ...(attempts > STUCK_AFTER_ATTEMPTS ? [`${failedRounds(attempts)} of compensation`] : []),
  ];
}
