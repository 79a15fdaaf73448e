import { Deadline } from '@shop/kit/deadline.ts';
import { edges } from '@shop/kit/edges.ts';
import { DatabaseUnavailableError } from '@shop/kit/failures.ts';
import { openHttpReplicas } from '@shop/kit/http-replica.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { ProblemError } from '@shop/kit/problems.ts';
import { CallUnavailableError, createCallPolicy } from '@shop/kit/resilience.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Catalog, createCatalog } from './catalog-client.ts';
import { createPlaceOrder, PRODUCT_CONCURRENCY } from './place-order.ts';
import { ADMISSION } from './routes.ts';
import type { SagaResult } from './saga/interpreter.ts';
import type { Saga } from './saga/saga.ts';
import type { SagaRunner } from './saga-runner.ts';
import { createJournal } from './testing/journal.ts';
import { createOrdersStore } from './testing/orders-store.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const OWNER = '6f7f3a51-50a8-4b7f-8a1c-1a6d3f3b1f10';
const request = { customer: 'Taras', lines: [{ productId: 1, quantity: 2 }] };

/** What becomes of the saga that `placeOrder` starts. */
type Run = (saga: Saga, decided: (saga: Saga) => void) => Promise<SagaResult>;

const confirms: Run = async (saga, decided) => {
  const ended: Saga = { ...saga, state: 'Confirmed', version: 4 };
  decided(ended);
  return { kind: 'ended', saga: ended };
};
const declines: Run = async (saga, decided) => {
  const cancelled: Saga = { ...saga, state: 'Compensating', reason: 'payment declined', version: 3 };
  decided(cancelled);
  return new Promise(() => undefined);
};
const hangs: Run = () => new Promise(() => undefined);
const isFenced: Run = async (saga) => ({ kind: 'fenced', saga });
const fails: Run = () => Promise.reject(new DatabaseUnavailableError('no response'));

/** How the database treats the insertion. */
type Insertion = 'done' | 'response lost' | 'not sent';

function aShop(options: { run?: Run; catalog?: Partial<Catalog>; insertion?: Insertion } = {}) {
  const store = createOrdersStore({ now: () => 0, journal: createJournal(() => 0), defects: {} });
  const run = options.run ?? confirms;
  const counted: string[] = [];
  const started: Saga[] = [];
  const sagaRunner: SagaRunner = {
    run(saga, { decided }) {
      started.push(saga);
      return run(saga, (after) => {
        const row = store.orders.get(saga.orderId);
        if (row !== undefined) {
          row.status = after.state === 'Confirmed' ? 'Confirmed' : 'Cancelled';
          row.reason = after.reason;
        }
        decided(after);
      });
    },
    activeIds: () => [],
    idle: async () => undefined,
  };
  const place = createPlaceOrder({
    database: {
      query: async (statement, values) => {
        const inserts = store.kindOf(statement) === 'insert';
        if (inserts && options.insertion === 'not sent') throw new DatabaseUnavailableError('connect ECONNREFUSED');
        const result = store.apply(statement, values);
        if (inserts && options.insertion === 'response lost') {
          throw new DatabaseUnavailableError('no response in 2000 ms', { sent: true });
        }
        return result as never;
      },
      transaction: () => Promise.reject(new Error('placing an order needs no transaction')),
      ping: async () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    },
    ownership: {
      id: OWNER,
      ensure: async () => undefined,
      mayAdopt: () => true,
      [Symbol.asyncDispose]: async () => undefined,
    },
    catalog: { findProduct: async (id) => ({ id, priceKopiykas: 10_000, currency: 'UAH' }), ...options.catalog },
    sagaRunner,
    metrics: {
      sagaDecided: (status) => void counted.push(status),
      sagaRecovered: () => undefined,
      compensationFailed: () => undefined,
    },
    logger,
    failpoint: async () => undefined,
  });
  return { place: (key?: string, body = request) => place(body, key, Deadline.after(9_000)), store, counted, started };
}

async function problemOf(work: Promise<unknown>): Promise<ProblemError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ProblemError) return error;
  throw new Error(`expected a problem, got ${error}`);
}

describe('orders with many lines', () => {
  const many = {
    customer: 'Taras',
    lines: Array.from({ length: 100 }, (_, index) => ({ productId: index + 1, quantity: 1 })),
  };

  it('admitted concurrently need no more calls to the catalog than its bulkhead holds, running and waiting', () => {
    expect(ADMISSION.maxConcurrent * PRODUCT_CONCURRENCY).toBeLessThanOrEqual(2 * edges['orders-catalog'].bulkhead);
  });

  it('do not refuse one another', async () => {
    const replicas = openHttpReplicas(['http://127.0.0.1:9']);
    const policy = createCallPolicy('orders-catalog', edges['orders-catalog'], logger, replicas);
    const client = {
      replicas,
      send: async ({ path }: { path: string }) => {
        await new Promise(setImmediate);
        return { status: 200, body: { id: Number(path.split('/').at(-1)), price: 10_000, currency: 'UAH' } };
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
    const shop = aShop({ catalog: createCatalog(client, policy) });
    const placed = await Promise.allSettled(
      Array.from({ length: ADMISSION.maxConcurrent }, () => shop.place(undefined, many)),
    );
    expect(new Set(placed.map(({ status }) => status))).toEqual(new Set(['fulfilled']));
  });
});

describe('placing an order', () => {
  it('starts a saga with the priced, merged lines and responds with its end', async () => {
    const shop = aShop();
    const lines = [
      { productId: 1, quantity: 2 },
      { productId: 1, quantity: 1 },
    ];
    const order = await shop.place(undefined, { customer: 'Taras', lines });
    expect(order).toMatchObject({ status: 'Confirmed', reason: null });
    expect(shop.started).toEqual([
      expect.objectContaining({
        orderId: order.id,
        state: 'Started',
        version: 1,
        totalKopiykas: 30_000,
        lines: [{ productId: 1, quantity: 3, priceKopiykas: 10_000 }],
      }),
    ]);
    expect(shop.store.orders.get(order.id)).toMatchObject({ owner: OWNER, idempotency_key: null, request_hash: null });
    expect(shop.counted).toEqual(['Confirmed']);
  });

  it('responds Cancelled once that is durable, while compensation goes on', async () => {
    const shop = aShop({ run: declines });
    expect(await shop.place()).toMatchObject({ status: 'Cancelled', reason: 'payment declined' });
    expect(shop.counted).toEqual(['Cancelled']);
  });
});

describe('nothing is recorded', () => {
  it('when the catalog gives no response: 503', async () => {
    const unavailable = new CallUnavailableError('orders-catalog', 'breaker_open', false);
    const shop = aShop({ catalog: { findProduct: () => Promise.reject(unavailable) } });
    expect((await problemOf(shop.place('k'))).code).toBe('catalog_unavailable');
    expect([shop.store.orders.size, shop.started.length]).toEqual([0, 0]);
  });

  it('when a product does not exist: 422', async () => {
    const shop = aShop({ catalog: { findProduct: async () => undefined } });
    expect((await problemOf(shop.place())).code).toBe('unknown_product');
    expect(shop.store.orders.size).toBe(0);
  });

  it('when a product has another currency than the shop: 422, and nothing is charged', async () => {
    const findProduct = async (id: number) => ({ id, priceKopiykas: 10_000, currency: 'EUR' });
    const shop = aShop({ catalog: { findProduct } });
    expect((await problemOf(shop.place())).code).toBe('unsupported_currency');
    expect([shop.store.orders.size, shop.started.length]).toEqual([0, 0]);
  });

  it('when the database cannot be reached', async () => {
    const shop = aShop({ insertion: 'not sent' });
    await expect(shop.place()).rejects.toThrow(DatabaseUnavailableError);
    expect([shop.store.orders.size, shop.started.length]).toEqual([0, 0]);
  });

  it('when the response of the catalog is invalid: the error is passed on', async () => {
    const shop = aShop({ catalog: { findProduct: () => Promise.reject(new Error('unexpected response')) } });
    await expect(shop.place()).rejects.toThrow('unexpected response');
    expect(shop.store.orders.size).toBe(0);
  });
});

describe('an idempotency key', () => {
  it('gets the first response again, and no second order', async () => {
    const shop = aShop({ run: declines });
    const first = await shop.place('key-1');
    expect(await shop.place('key-1')).toEqual(first);
    expect([shop.store.orders.size, shop.started.length, shop.counted.length]).toEqual([1, 1, 1]);
  });

  it('is in progress while the first saga runs: 409 with its location', async () => {
    const shop = aShop({ run: hangs });
    void shop.place('key-1').catch(() => undefined);
    await vi.waitUntil(() => shop.started.length === 1, { timeout: 2_000 });
    const problem = await problemOf(shop.place('key-1'));
    expect(problem.code).toBe('request_in_progress');
    expect(problem.headers.location).toBe(`/api/orders/${shop.started[0]?.orderId}`);
  });

  it('with another body is refused: 422', async () => {
    const shop = aShop();
    await shop.place('key-1');
    const other = { customer: 'Taras', lines: [{ productId: 1, quantity: 3 }] };
    expect((await problemOf(shop.place('key-1', other))).code).toBe('idempotency_key_reused');
    expect(shop.store.orders.size).toBe(1);
  });

  it('makes one order of two requests that arrive together', async () => {
    const shop = aShop({ run: hangs });
    const second = shop.place('key-1').catch((error: unknown) => error);
    const problem = await problemOf(Promise.race([shop.place('key-1'), second.then((error) => Promise.reject(error))]));
    expect(problem.code).toBe('request_in_progress');
    expect([shop.store.orders.size, shop.started.length]).toEqual([1, 1]);
  });
});

describe('an order whose outcome is not known yet', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('gets a response when its time is up, with its location', async () => {
    const shop = aShop({ run: hangs });
    const pending = problemOf(shop.place());
    await vi.advanceTimersByTimeAsync(9_000);
    const problem = await pending;
    expect(problem.code).toBe('order_outcome_pending');
    expect(problem.headers).toEqual({ location: `/api/orders/${shop.started[0]?.orderId}`, 'retry-after': '2' });
  });

  it.each([
    ['another instance runs it', isFenced],
    ['its saga could not be saved', fails],
  ])('gets a response immediately when %s', async (_why, run) => {
    expect((await problemOf(aShop({ run }).place())).code).toBe('order_outcome_pending');
  });

  it('gets a response when the insertion may have happened, and is left to recovery', async () => {
    const shop = aShop({ insertion: 'response lost' });
    expect((await problemOf(shop.place())).code).toBe('order_outcome_pending');
    expect([shop.store.orders.size, shop.started.length]).toEqual([1, 0]);
  });

  it('leaves no timer behind once it is decided', async () => {
    await aShop().place();
    expect(vi.getTimerCount()).toBe(0);
  });
});
