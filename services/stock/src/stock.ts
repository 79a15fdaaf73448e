import type { Database, Queryable } from '@shop/kit/database.ts';
import type { Failpoint } from '@shop/kit/failpoints.ts';
import {
  addReservation,
  addTombstone,
  findReservation,
  markInsufficient,
  markReleased,
  returnToInventory,
  takeFromInventory,
} from './repository.ts';
import { KeyReusedError, mergeLines, type ReserveOutcome, type ReserveRequest, repeatOutcome } from './reservation.ts';

/** Checked before a change is committed: throws when the caller no longer waits for it. */
export type StillWanted = () => void;

export interface Stock {
  /** All lines or none. Throws KeyReusedError, DatabaseUnavailableError, or what `stillWanted` throws. */
  reserve(request: ReserveRequest, stillWanted: StillWanted): Promise<ReserveOutcome>;
  /** True when units were put back; false for a repeat, an order without units, or a tombstone. */
  release(request: { orderId: string; idempotencyKey: string }, stillWanted: StillWanted): Promise<boolean>;
}

/** A reservation can appear once between the lookup and the rejection. */
const MAX_ROUNDS = 2;

export function createStock(database: Database, failpoint: Failpoint<'stock'>): Stock {
  return {
    async reserve(request, stillWanted) {
      HARNESS: await failpoint('reservation-requested:unrecorded');
      const outcome = await database.transaction(async (transaction) => {
        const result = await reserveIn(transaction, request);
        HARNESS: await failpoint('reservation-decided:uncommitted');
        stillWanted();
        return result;
      });
      HARNESS: await failpoint('reservation-decided:response-unsent');
      return outcome;
    },
    async release({ orderId, idempotencyKey }, stillWanted) {
      HARNESS: await failpoint('release-requested:unrecorded');
      const released = await database.transaction(async (transaction) => {
        const result = await releaseIn(transaction, orderId, idempotencyKey);
        stillWanted();
        return result;
      });
      HARNESS: await failpoint('release-recorded:response-unsent');
      return released;
    },
  };
}

async function reserveIn(transaction: Queryable, request: ReserveRequest): Promise<ReserveOutcome> {
  const { orderId, idempotencyKey } = request;
  const lines = mergeLines(request.lines);
  if (!(await addReservation(transaction, { orderId, reserveKey: idempotencyKey, lines }))) {
    const existing = await findReservation(transaction, orderId);
    if (existing === undefined) throw new KeyReusedError('the idempotency key was used for another order');
    return repeatOutcome(request, existing);
  }
  const short = await takeFromInventory(transaction, lines);
  if (short.length === 0) return { outcome: 'reserved' };
  await markInsufficient(transaction, orderId, short);
  return { outcome: 'insufficient', productIds: short };
}

async function releaseIn(transaction: Queryable, orderId: string, releaseKey: string): Promise<boolean> {
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const lines = await markReleased(transaction, orderId, releaseKey);
    if (lines !== undefined) {
      await returnToInventory(transaction, lines);
      return true;
    }
    if (await addTombstone(transaction, orderId, releaseKey)) return false;
    const existing = await findReservation(transaction, orderId);
    if (existing === undefined) throw new KeyReusedError('the idempotency key was used for another order');
    // Its Reserve was committed while the tombstone waited for it: the next round puts the units back.
    if (existing.state !== 'reserved') return false;
  }
  throw new Error(`stock: a release lost its race ${MAX_ROUNDS} times`);
}
