import { randomUUID } from 'node:crypto';
import type { Database } from '@shop/kit/database.ts';
import type { Deadline } from '@shop/kit/deadline.ts';
import type { Failpoint } from '@shop/kit/failpoints.ts';
import { DatabaseUnavailableError, messageOf } from '@shop/kit/failures.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { ProblemError } from '@shop/kit/problems.ts';
import { CallUnavailableError } from '@shop/kit/resilience.ts';
import { currentTraceParent, failSpan, inSpan, untraced } from '@shop/kit/tracing.ts';
import pMap from 'p-map';
import type { Catalog } from './catalog-client.ts';
import type { OrderMetrics } from './metrics.ts';
import {
  CURRENCY,
  hashRequest,
  mergeLines,
  type OrderRequest,
  priceLines,
  type RequestedLine,
  totalKopiykas,
} from './order.ts';
import type { Ownership } from './ownership.ts';
import { findOrderByKey, insertNewOrder, type OrderRecord } from './repository.ts';
import { type OrderLine, type OrderStatus, SAGA_NAME, type Saga, statusOf } from './saga/saga.ts';
import type { SagaRunner } from './saga-runner.ts';

/**
 * Products that one order reads concurrently: an order may have 100 of them. 48 active orders (`ADMISSION` in
 * routes.ts) read 48 x 4 = 192. That is what the catalog's bulkhead holds, 96 running and 96 waiting: orders never
 * refuse one another.
 */
export const PRODUCT_CONCURRENCY = 4;

/** An order whose status is durable. */
export interface DecidedOrder {
  readonly id: string;
  readonly status: OrderStatus;
  readonly reason: string | null;
}

/**
 * Runs the order's saga until its status is durable; compensation continues in the background. Throws ProblemError: nothing was
 * recorded, except for `order_outcome_pending`, after which the order's own path has its end.
 */
export type PlaceOrder = (
  request: OrderRequest,
  idempotencyKey: string | undefined,
  deadline: Deadline,
) => Promise<DecidedOrder>;

export interface PlaceOrderOptions {
  readonly database: Database;
  readonly ownership: Ownership;
  readonly catalog: Catalog;
  readonly sagaRunner: SagaRunner;
  readonly metrics: OrderMetrics;
  readonly logger: Logger;
  readonly failpoint: Failpoint<'orders'>;
}

export function createPlaceOrder(options: PlaceOrderOptions): PlaceOrder {
  const { database, ownership, catalog, sagaRunner, metrics, logger, failpoint } = options;

  return async (request, idempotencyKey, deadline) => {
    HARNESS: await failpoint('order-received:unrecorded');
    const lines = mergeLines(request.lines);
    const requestHash = idempotencyKey === undefined ? undefined : hashRequest(request.customer, lines);
    if (idempotencyKey !== undefined) {
      // Untraced, so that an order with a key keeps the shape of one without.
      const earlier = await untraced(() => findOrderByKey(database, idempotencyKey));
      if (earlier !== undefined) return replay(earlier, requestHash);
    }
    const priced = await price(lines, deadline);
    const saga = newSaga(priced);
    return inSpan(SAGA_NAME, { 'shop.order.id': saga.orderId }, async (span) => {
      const startedAt = performance.now();
      await ownership.ensure();
      const inserted = await start(saga, { customer: request.customer, idempotencyKey, requestHash });
      if (!inserted) return replayOf(idempotencyKey, requestHash);
      HARNESS: await failpoint('order-started:saved');
      const decided = await decide(saga, deadline, startedAt);
      if (decided.reason !== null) failSpan(span, decided.reason);
      return decided;
    });
  };

  async function price(lines: readonly RequestedLine[], deadline: Deadline): Promise<readonly OrderLine[]> {
    try {
      const products = await pMap(lines, ({ productId }) => catalog.findProduct(productId, deadline), {
        concurrency: PRODUCT_CONCURRENCY,
      });
      HARNESS: await failpoint('products-read:unrecorded');
      return priceLines(lines, products);
    } catch (error) {
      if (!(error instanceof CallUnavailableError)) throw error;
      logger.warn({ reason: messageOf(error) }, 'the catalog is unavailable');
      throw new ProblemError('catalog_unavailable', 'the catalog did not respond, nothing was ordered', {
        cause: error,
      });
    }
  }

  /** False when another order has the key. A database that did not respond may still have taken the order. */
  async function start(
    saga: Saga,
    order: { customer: string; idempotencyKey: string | undefined; requestHash: string | undefined },
  ): Promise<boolean> {
    try {
      return await insertNewOrder(database, {
        ...order,
        saga,
        owner: ownership.id,
        traceParent: currentTraceParent(),
      });
    } catch (error) {
      if (error instanceof DatabaseUnavailableError && error.sent) throw outcomePending(saga.orderId, error);
      throw error;
    }
  }

  /** Resolves with the first of: the status is durable, the order's time is up. The saga goes on in both cases. */
  function decide(saga: Saga, deadline: Deadline, startedAt: number): Promise<DecidedOrder> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(outcomePending(saga.orderId)), deadline.remainingMs());
      sagaRunner
        .run(saga, {
          deadline,
          resumed: false,
          decided(decided) {
            const status = statusOf(decided.state) as OrderStatus;
            metrics.sagaDecided(status, decided.reason, performance.now() - startedAt);
            resolve({ id: decided.orderId, status, reason: decided.reason });
          },
        })
        .then(
          ({ kind }) => kind === 'fenced' && reject(outcomePending(saga.orderId)),
          (error: unknown) => {
            logger.warn({ order_id: saga.orderId, reason: messageOf(error) }, 'the saga is left to recovery');
            reject(outcomePending(saga.orderId, error));
          },
        )
        .finally(() => clearTimeout(timer));
    });
  }

  async function replayOf(idempotencyKey: string | undefined, requestHash: string | undefined): Promise<DecidedOrder> {
    const earlier = await findOrderByKey(database, idempotencyKey as string);
    if (earlier === undefined) throw new Error('the order with this idempotency key has vanished');
    return replay(earlier, requestHash);
  }
}

/** The first response again. Throws ProblemError when it was another request's, or is not there yet. */
function replay(earlier: OrderRecord, requestHash: string | undefined): DecidedOrder {
  if (earlier.requestHash !== requestHash) {
    throw new ProblemError('idempotency_key_reused', 'use a new Idempotency-Key for another order');
  }
  if (earlier.status === null) {
    throw new ProblemError('request_in_progress', 'the first request with this Idempotency-Key is still running', {
      headers: { location: locationOf(earlier.id) },
    });
  }
  return { id: earlier.id, status: earlier.status, reason: earlier.reason };
}

function newSaga(lines: readonly OrderLine[]): Saga {
  return {
    orderId: randomUUID(),
    lines,
    totalKopiykas: totalKopiykas(lines),
    currency: CURRENCY,
    state: 'Started',
    version: 1,
    reason: null,
    pending: [],
    attempts: 0,
    lastError: null,
  };
}

function outcomePending(orderId: string, cause?: unknown): ProblemError {
  return new ProblemError('order_outcome_pending', `ask for order ${orderId} again: it ends without another request`, {
    cause,
    headers: { location: locationOf(orderId), 'retry-after': '2' },
  });
}

/** Path of an order as clients of the gateway see it. */
export function locationOf(orderId: string): string {
  return `/api/orders/${orderId}`;
}
