import { randomUUID } from 'node:crypto';
import { type Database, openDatabase, sql } from '@shop/kit/database.ts';
import { createOrderConfirmed } from '@shop/kit/events.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import { confirmationEvents } from './events.ts';
import { countPending } from './outbox.ts';
import { adoptIdleSagas, confirmSaga, countOpen, findOrder, insertNewOrder, updateSaga } from './repository.ts';
import { orderSaga, type Saga } from './saga/saga.ts';
import { afterFailedRound, afterPivot } from './saga/transitions.ts';
import { aSaga } from './testing/sagas.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const lease = sql(
  'INSERT saga_owners: test',
  `INSERT INTO saga_owners (id, instance, lease_until) VALUES ($1, 'test', now() + $2 * interval '1 second')`,
);
const age = sql('UPDATE orders: age', `UPDATE orders SET updated_at = now() - interval '10 seconds' WHERE id = $1`);
const me = randomUUID();
let database: Database;

beforeAll(async () => {
  const { url } = await createDatabase('orders');
  database = openDatabase({ url, poolSize: 8, applicationName: 'orders-test', logger });
}, START_TIMEOUT_MS);

afterAll(() => database[Symbol.asyncDispose]());

async function anOrder(owner: string, idempotencyKey?: string): Promise<Saga> {
  const saga = aSaga({ orderId: randomUUID() });
  const order = { saga, customer: 'test', owner, traceParent: undefined, idempotencyKey, requestHash: 'hash' };
  expect(await insertNewOrder(database, order)).toBe(true);
  return saga;
}

async function anInstance(leaseS: number): Promise<string> {
  const id = randomUUID();
  await database.query(lease, [id, leaseS]);
  return id;
}

async function adopted(saga: Saga, activeIds: readonly string[] = [], owner: string = me): Promise<boolean> {
  const sagas = await adoptIdleSagas(database, { owner, activeIds, limit: 1_000 });
  return sagas.some((stored) => stored.saga.orderId === saga.orderId);
}

describe('adoption', () => {
  it('leaves an order of our own alone that was inserted a moment ago', async () => {
    expect(await adopted(await anOrder(me))).toBe(false);
  });

  it('takes an order of our own that is untouched for a while and not active here', async () => {
    const saga = await anOrder(me);
    await database.query(age, [saga.orderId]);
    expect(await adopted(saga, [saga.orderId])).toBe(false);
    expect(await adopted(saga)).toBe(true);
  });

  it('takes a compensation of our own as soon as it is due, not before', async () => {
    const running = await anOrder(me);
    const before = {
      ...running,
      state: 'Compensating',
      reason: 'stock unavailable',
      pending: ['release stock'],
    } as const;
    const later = afterFailedRound(before, 'unavailable');
    expect(await updateSaga(database, { before, after: later, owner: me, dueInMs: 60_000 })).toBe(true);
    expect(await adopted(later)).toBe(false);
    const due = afterFailedRound(later, 'unavailable');
    expect(await updateSaga(database, { before: later, after: due, owner: me, dueInMs: 0 })).toBe(true);
    expect(await adopted(due)).toBe(true);
  });

  it('takes the orders of an instance whose lease has passed, or that never had one', async () => {
    expect(await adopted(await anOrder(await anInstance(-1)))).toBe(true);
    expect(await adopted(await anOrder(randomUUID()))).toBe(true);
  });

  it('leaves the orders of an instance alone whose lease holds', async () => {
    expect(await adopted(await anOrder(await anInstance(60)))).toBe(false);
  });

  // A hundred rounds: one in about ten gave the order to two, when the statement joined and locked in one step.
  it('gives each order to one of several adopters that come together', async () => {
    const instances = await Promise.all(Array.from({ length: 8 }, () => anInstance(60)));
    const twice: string[] = [];
    for (let round = 0; round < 100; round += 1) {
      const saga = await anOrder(randomUUID());
      const adopters = await Promise.all(instances.map((owner) => adopted(saga, [], owner)));
      if (adopters.filter(Boolean).length !== 1) twice.push(saga.orderId);
    }
    expect(twice).toEqual([]);
  });

  it('makes the saves of the former owner fail', async () => {
    const owner = randomUUID();
    const before = await anOrder(owner);
    expect(await adopted(before)).toBe(true);
    const after: Saga = { ...before, state: 'StockReserved', version: 2 };
    expect(await updateSaga(database, { before, after, owner, dueInMs: null })).toBe(false);
  });
});

it('counts open orders, with the ages of the oldest compensation and of the oldest order that is not decided', async () => {
  const noOrder = sql('DELETE orders: test', 'DELETE FROM orders');
  const placedAgo = sql(
    'UPDATE orders: test',
    `UPDATE orders SET created_at = now() - $2 * interval '1 s' WHERE id = $1`,
  );
  await database.query(noOrder, []);
  expect(await countOpen(database)).toEqual({ compensating: 0, oldestCompensationAgeS: 0, oldestUndecidedAgeS: 0 });
  const [undecided, before] = [await anOrder(me), await anOrder(me)];
  const cancelled = {
    ...before,
    state: 'Compensating',
    reason: 'stock unavailable',
    pending: ['release stock'],
  } as const;
  const after = afterFailedRound(cancelled, 'unavailable');
  expect(await updateSaga(database, { before: cancelled, after, owner: me, dueInMs: 60_000 })).toBe(true);
  await database.query(placedAgo, [undecided.orderId, 10]);
  await database.query(placedAgo, [before.orderId, 600]);
  const open = await countOpen(database);
  expect(open.compensating).toBe(1);
  expect(open.oldestCompensationAgeS).toBeGreaterThanOrEqual(600);
  expect(open.oldestUndecidedAgeS).toBeGreaterThanOrEqual(10);
  expect(open.oldestUndecidedAgeS).toBeLessThan(600);
});

describe('the pivot', () => {
  it('writes status and outbox row together, once', async () => {
    const before = await anOrder(me);
    const after = afterPivot(before, orderSaga.PaymentCharged);
    const { orderId, totalKopiykas: total, currency } = after;
    const { count: pendingBefore } = await countPending(database);
    const confirm = () => {
      const event = createOrderConfirmed(randomUUID(), new Date(), { orderId, lines: [], total, currency });
      return confirmSaga(database, { before, after, owner: me, events: [event], traceParent: undefined });
    };
    expect([await confirm(), await confirm()]).toEqual([true, false]);
    expect((await countPending(database)).count).toBe(pendingBefore + 1);
    expect(await findOrder(database, orderId)).toMatchObject({ status: 'Confirmed', reason: null });
  });
});

describe('the pivot with two versions of the event', () => {
  const versionsOf = sql(
    'SELECT outbox: test',
    'SELECT type, payload, "TraceParent" AS trace FROM outbox WHERE order_id = $1 ORDER BY seq',
  );

  it('writes status and both rows together, the first version first, once', async () => {
    const before = await anOrder(me);
    const after = afterPivot(before, orderSaga.PaymentCharged);
    const traceParent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const events = confirmationEvents(after, ['order.confirmed', 'order.confirmed.v2'], new Date());
    const confirm = () => confirmSaga(database, { before, after, owner: me, events, traceParent });
    expect([await confirm(), await confirm()]).toEqual([true, false]);
    const { rows } = await database.query(versionsOf, [after.orderId]);
    expect(rows).toEqual(events.map((event) => ({ type: event.type, payload: event, trace: traceParent })));
    expect(await findOrder(database, after.orderId)).toMatchObject({ status: 'Confirmed' });
  });
});

describe('an idempotency key', () => {
  it('is taken by one of several orders that come together', async () => {
    const key = randomUUID();
    const insert = () => {
      const saga = aSaga({ orderId: randomUUID() });
      const order = {
        saga,
        customer: 'test',
        owner: me,
        traceParent: undefined,
        idempotencyKey: key,
        requestHash: 'h',
      };
      return insertNewOrder(database, order);
    };
    const inserted = await Promise.all(Array.from({ length: 6 }, insert));
    expect(inserted.filter(Boolean)).toHaveLength(1);
  });
});
