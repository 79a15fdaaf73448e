import { ConnectionLostError, NotSentError, OutOfTimeError } from './failures.ts';

/**
 * What becomes of an attempt to call a service, by its meaning for the shop, and whether a release may be worse by it. Tag
 * `outcome` of `shop.upstream.attempts`.
 */
export const attemptOutcomes = {
  ok: 'good',
  confirmed: 'good',
  declined: 'good',
  out_of_stock: 'good',
  /** What was asked for is not there, or not yet. */
  absent: 'good',
  payment_unavailable: 'bad',
  stock_unavailable: 'bad',
  /** A 4xx that no rule of the shop explains. */
  rejected: 'bad',
  /** A 5xx, or a response that is none. */
  failed: 'bad',
  timeout: 'bad',
  lost: 'bad',
  /** There was no connection. */
  refused: 'bad',
} as const satisfies Record<string, 'good' | 'bad'>;

export type AttemptOutcome = keyof typeof attemptOutcomes;

/** Of an attempt that threw `error`; `isOver`: its time was over. */
export function outcomeOfError(error: unknown, isOver: boolean): AttemptOutcome {
  if (error instanceof NotSentError) return 'refused';
  if (isOver || error instanceof OutOfTimeError) return 'timeout';
  return error instanceof ConnectionLostError ? 'lost' : 'failed';
}

/** Why an order was cancelled, as it is on the wire and as it is counted. */
export const outcomesOfReasons = {
  'out of stock': 'out_of_stock',
  'stock unavailable': 'stock_unavailable',
  'payment declined': 'declined',
  'payment unavailable': 'payment_unavailable',
} as const satisfies Record<string, AttemptOutcome>;
