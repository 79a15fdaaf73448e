import { setTimeout as delay } from 'node:timers/promises';
import { parseOrderConfirmed, type ReadOrderConfirmed } from '@shop/kit/events.ts';
import type { Failpoint } from '@shop/kit/failpoints.ts';
import { DatabaseUnavailableError, messageOf, PermanentError } from '@shop/kit/failures.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { backoffMs } from '@shop/kit/resilience.ts';
import { DELIVERY_LIMIT, SHIPPING_BINDINGS } from '@shop/kit/topology.ts';
import type { CountMessage } from './metrics.ts';
import type { Shipments } from './repository.ts';

/** What to tell the broker; `leave` says nothing, so that the message is delivered again once the channel is closed. */
export type Settlement = 'ack' | 'dead-letter' | 'requeue' | 'leave';

export interface Delivery {
  readonly content: Uint8Array;
  /** How often the broker delivered this message before. */
  readonly earlierDeliveries: number;
}

/** Back-offs in ms: while the database is away, and before a failing message is given back. */
export interface BackOffs {
  readonly hold: { readonly baseMs: number; readonly maxMs: number };
  readonly requeue: { readonly baseMs: number; readonly maxMs: number };
}

export const backOffs: BackOffs = {
  hold: { baseMs: 500, maxMs: 5_000 },
  requeue: { baseMs: 100, maxMs: 2_000 },
};

export interface DeliveryDependencies {
  readonly shipments: Shipments;
  readonly count: CountMessage;
  readonly logger: Logger;
  readonly failpoint: Failpoint;
  readonly backOffs: BackOffs;
}

/**
 * Decides what becomes of one delivery. What it promises:
 * D1 a message is acknowledged only after its effect was committed, or was found committed;
 * D2 a message that no redelivery can help goes to the dead letters at once;
 * D3 a database that is away costs no delivery: the message is held, and tried again until it works or `stop` fires;
 * D4 any other failure is given back after a back-off, until the broker's delivery limit moves it to the dead letters.
 * Failpoint: `H3` after the commit, before the acknowledgement.
 */
export async function settle(
  delivery: Delivery,
  dependencies: DeliveryDependencies,
  stop: AbortSignal,
): Promise<Settlement> {
  const { count, logger, failpoint } = dependencies;
  try {
    const event = readEvent(delivery.content);
    const isNew = await holdWhileAway(event, dependencies, stop);
    if (isNew === 'stopped') return 'leave';
    await failpoint('H3');
    logger.info({ order_id: event.orderId }, isNew ? 'order shipped' : 'a repeated message had no effect');
    count(isNew ? 'shipped' : 'duplicate');
    return 'ack';
  } catch (error) {
    if (error instanceof PermanentError) {
      logger.warn({ reason: error.message }, 'a message went to the dead letters');
      count('dead_lettered');
      return 'dead-letter';
    }
    return giveBack(delivery, error, dependencies, stop);
  }
}

/** Throws PermanentError for what this service cannot read. */
function readEvent(content: Uint8Array): ReadOrderConfirmed {
  const event = parseOrderConfirmed(content);
  // The type is not repeated: whoever sent it may have put anything there.
  if (!(SHIPPING_BINDINGS as readonly string[]).includes(event.type)) {
    throw new PermanentError('the message is of a type that is not shipped');
  }
  return event;
}

async function holdWhileAway(
  event: ReadOrderConfirmed,
  { shipments, count, logger, backOffs }: DeliveryDependencies,
  stop: AbortSignal,
): Promise<boolean | 'stopped'> {
  for (let attempt = 1; !stop.aborted; attempt += 1) {
    try {
      return await shipments.receive(event);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError)) throw error;
      const fields = { order_id: event.orderId, attempt, reason: messageOf(error) };
      logger.warn(fields, 'the database is unavailable, the message is held');
      count('retried');
      await pause(atLeastHalf(attempt, backOffs.hold), stop);
    }
  }
  return 'stopped';
}

async function giveBack(
  { earlierDeliveries }: Delivery,
  error: unknown,
  { count, logger, backOffs }: DeliveryDependencies,
  stop: AbortSignal,
): Promise<Settlement> {
  const isLast = earlierDeliveries >= DELIVERY_LIMIT;
  const fields = { err: error, delivery: earlierDeliveries + 1, limit: DELIVERY_LIMIT + 1 };
  logger.error(fields, isLast ? 'a message failed for the last time' : 'a message failed and is given back');
  count(isLast ? 'dead_lettered' : 'retried');
  await pause(atLeastHalf(earlierDeliveries + 1, backOffs.requeue), stop);
  return 'requeue';
}

/** Half of the ceiling is fixed, so that a jitter near zero does not make the consumer spin. */
function atLeastHalf(attempt: number, { baseMs, maxMs }: { baseMs: number; maxMs: number }): number {
  const halfCeilingMs = Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, 30)) / 2;
  return halfCeilingMs + backoffMs(attempt, baseMs, maxMs) / 2;
}

/** Resolves after `ms`, or as soon as `stop` fires. */
async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal: stop }).catch((error: unknown) => {
    if (!stop.aborted) throw error;
  });
}
