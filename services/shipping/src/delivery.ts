import { type ParsedOrderConfirmed, parseOrderConfirmed } from '@shop/kit/events.ts';
import type { Failpoint } from '@shop/kit/failpoints.ts';
import { DatabaseUnavailableError, messageOf, PermanentError } from '@shop/kit/failures.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { pause } from '@shop/kit/pause.ts';
import { backoffMs } from '@shop/kit/resilience.ts';
import { DELIVERY_LIMIT, SHIPPING_BINDINGS } from '@shop/kit/topology.ts';
import type { CountEvent, CountMessage, RecordDelay } from './metrics.ts';
import type { Shipments } from './repository.ts';

/**
 * How a delivery is settled: `retry` is put aside for `afterMs` and delivered again. `unacked` settles nothing: the broker
 * delivers the message again when the channel is closed.
 */
export type Settlement =
  | { readonly kind: 'ack' | 'dead-letter' | 'unacked' }
  | {
      readonly kind: 'retry';
      readonly afterMs: number;
      /** Deliveries that count towards the limit from then on. */
      readonly deliveries: number;
    };

export interface Delivery {
  readonly content: Uint8Array;
  /** How often the broker delivered this message before. */
  readonly earlierDeliveries: number;
}

/** Backoffs in ms: `hold` while the database is unavailable, up to `limitMs`; `retry` before a failed message is redelivered. */
export interface BackoffPolicies {
  readonly hold: { readonly baseMs: number; readonly maxMs: number; readonly limitMs: number };
  readonly retry: { readonly baseMs: number; readonly maxMs: number };
}

export const backoffs: BackoffPolicies = {
  // A third of RabbitMQ's `consumer_timeout`: it closes the channel of a consumer that holds a message for longer.
  hold: { baseMs: 500, maxMs: 5_000, limitMs: 600_000 },
  retry: { baseMs: 100, maxMs: 2_000 },
};

export interface DeliveryDependencies {
  readonly shipments: Shipments;
  readonly count: CountMessage;
  readonly countEvent: CountEvent;
  readonly recordDelay: RecordDelay;
  readonly logger: Logger;
  readonly failpoint: Failpoint<'shipping'>;
  readonly backoffs: BackoffPolicies;
}

/**
 * Settles one delivery. Guarantees:
 * D1: a message is acknowledged only after its effect was committed, or was committed before.
 * D2: a message with a permanent error is dead-lettered immediately.
 * D3: an unavailable database costs no delivery: the message is held, and retried until it succeeds or `stop` fires. One
 *    that was held for too long is put aside, and that delivery does not count.
 * D4: any other failure is retried after a backoff, and dead-lettered after its last delivery. A message that reached its
 *    limit because its consumers crashed is not tried again.
 */
export async function settle(
  delivery: Delivery,
  dependencies: DeliveryDependencies,
  stop: AbortSignal,
): Promise<Settlement> {
  const { count, countEvent, recordDelay, logger, failpoint } = dependencies;
  if (delivery.earlierDeliveries > DELIVERY_LIMIT) {
    logger.error({ limit: DELIVERY_LIMIT + 1 }, 'a message ended each process that had it');
    count('dead_lettered');
    return { kind: 'dead-letter' };
  }
  try {
    const event = readEvent(delivery.content);
    const isNew = await retryUntilAvailable(event, dependencies, stop);
    if (isNew === 'stopped') return { kind: 'unacked' };
    if (isNew === 'held too long') {
      return { kind: 'retry', afterMs: dependencies.backoffs.hold.maxMs, deliveries: delivery.earlierDeliveries };
    }
    if (isNew && event.time !== undefined) recordDelay((Date.now() - event.time.getTime()) / 1_000);
    HARNESS: await failpoint('shipment-committed:message-unacknowledged');
    logger.info({ order_id: event.orderId }, isNew ? 'order shipped' : 'a repeated message had no effect');
    count(isNew ? 'shipped' : 'duplicate');
    countEvent(event.type);
    return { kind: 'ack' };
  } catch (error) {
    if (error instanceof PermanentError) {
      logger.warn({ reason: error.message }, 'a message went to the dead letters');
      count('dead_lettered');
      return { kind: 'dead-letter' };
    }
    return retry(delivery, error, dependencies);
  }
}

/** Throws PermanentError for an unreadable message. */
function readEvent(content: Uint8Array): ParsedOrderConfirmed {
  const event = parseOrderConfirmed(content);
  // The type is not logged: it comes from the sender and may hold anything.
  if (!(SHIPPING_BINDINGS as readonly string[]).includes(event.type)) {
    throw new PermanentError('the message is of a type that is not shipped');
  }
  return event;
}

async function retryUntilAvailable(
  event: ParsedOrderConfirmed,
  { shipments, count, logger, backoffs }: DeliveryDependencies,
  stop: AbortSignal,
): Promise<boolean | 'stopped' | 'held too long'> {
  const endsAt = performance.now() + backoffs.hold.limitMs;
  for (let attempt = 1; !stop.aborted; attempt += 1) {
    try {
      return await shipments.receive(event);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError)) throw error;
      const fields = { order_id: event.orderId, attempt, reason: messageOf(error) };
      logger.warn(fields, 'the database is unavailable, the message is held');
      count('retried');
      if (performance.now() >= endsAt) return 'held too long';
      await pause(atLeastHalf(attempt, backoffs.hold), stop);
    }
  }
  return 'stopped';
}

function retry(
  { earlierDeliveries }: Delivery,
  error: unknown,
  { count, logger, backoffs }: DeliveryDependencies,
): Settlement {
  const isLast = earlierDeliveries >= DELIVERY_LIMIT;
  const fields = { err: error, delivery: earlierDeliveries + 1, limit: DELIVERY_LIMIT + 1 };
  logger.error(fields, isLast ? 'a message failed for the last time' : 'a message failed and is given back');
  count(isLast ? 'dead_lettered' : 'retried');
  if (isLast) return { kind: 'dead-letter' };
  const deliveries = earlierDeliveries + 1;
  return { kind: 'retry', afterMs: atLeastHalf(deliveries, backoffs.retry), deliveries };
}

/** Half of the ceiling is fixed, so that a jitter near zero does not make the consumer spin. */
function atLeastHalf(attempt: number, { baseMs, maxMs }: { baseMs: number; maxMs: number }): number {
  const halfCeilingMs = Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, 30)) / 2;
  return halfCeilingMs + backoffMs(attempt, baseMs, maxMs) / 2;
}
