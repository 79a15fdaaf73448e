/*
 * Goal: a process that crashes between any two effects leaves nothing that does not end and balance.
 * Method: failpoints kill a real process (SIGKILL) at each boundary of saga, compensation, relay, shipping, payments
 * and stock. The inside of a final statement is reached by holding the lock that the statement needs. The order is
 * found by its Idempotency-Key, because its client may have got no response.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Secrets } from '../../cli/src/providers/secrets.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { expectBalancedAfterKills } from './support/audit.ts';
import { look, place } from './support/client.ts';
import { childrenOf, findByKey, placeAndCrash, spansOf, untilReadmitted, untilReady } from './support/crash.ts';
import { COSTLY_POLL_MS, eventually } from './support/eventually.ts';
import { findImbalances, readLedger, untilDrained } from './support/ledger.ts';

/** A saga has ended this long after the process is ready again: the lease of the one before (5 s), a scan, and its steps. */
const RECOVERED_MS = 15_000;
/** Another instance adopts when the lease has passed: 5 s, a scan of 0.5 s, and its steps on a busy machine. */
const ADOPTED_MS = 10_000;

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform({ project: 'e2e-crash', env: { SHOPCTL_FAILPOINTS: '1' } });
});
afterAll(() => platform?.stop());

/** Of tests that have failed: they are not held against the next one. */
const imbalances = new Set<string>();

afterEach(async () => {
  const armed = await platform.armed();
  // One that stays armed would end a process of the next test.
  for (const failpoint of armed) await platform.disarm(failpoint);
  expect(armed, 'failpoints not passed').toEqual([]);
  await untilDrained(platform);
  const found = (await findImbalances(platform)).filter((one) => !imbalances.has(one));
  for (const one of found) imbalances.add(one);
  expect(found).toEqual([]);
});

const declined = [{ productId: 12, quantity: 1 }];

/** The order's one result, once it has one. */
async function untilDecided(orderId: string, withinMs: number): Promise<Record<string, unknown>> {
  const response = await eventually(
    `order ${orderId} to be decided`,
    { withinMs, everyMs: COSTLY_POLL_MS, seen: () => readLedger(platform, orderId) },
    async () => {
      const { status, body } = await look(platform, orderId);
      if (status === 404) throw new Error('the order has vanished');
      expect([200, 202]).toContain(status);
      return status === 200 ? body : undefined;
    },
  );
  return response;
}

async function expectConfirmedOnce(orderId: string): Promise<void> {
  await untilDrained(platform);
  expect(await readLedger(platform, orderId)).toMatchObject({
    order: { status: 'Confirmed', state: 'Confirmed', open: false },
    outbox: [{ published: true }],
    reservations: [{ state: 'reserved' }],
    payments: [{ state: 'accepted', amount: 45_000 }],
    inbox: [{}],
    shipments: [{}],
  });
}

async function expectCancelledOnce(orderId: string): Promise<void> {
  await untilDrained(platform);
  expect(await readLedger(platform, orderId)).toMatchObject({
    order: { status: 'Cancelled', reason: 'payment declined', state: 'Cancelled', open: false },
    outbox: [],
    reservations: [{ state: 'released' }],
    payments: [{ state: 'declined' }],
    inbox: [],
    shipments: [],
  });
}

/** The client's own trace goes on in the process that resumed the saga. */
async function expectRecoveredIn(traceId: string | undefined, endedPid: number, times: number): Promise<void> {
  expect(traceId).toBeDefined();
  const spans = await eventually('the span of the recovery', { withinMs: 5_000 }, async () => {
    const found = await spansOf(platform, traceId as string, 'recover order saga');
    return found.length >= times && found;
  });
  expect(spans).toHaveLength(times);
  for (const { pid } of spans) expect(pid).not.toBe(endedPid);
}

async function traceOf(orderId: string): Promise<string> {
  const { order } = await readLedger(platform, orderId);
  return order.trace_parent?.split('-')[1] as string;
}

const boundaries = {
  unrecorded: ['order-received:unrecorded', 'products-read:unrecorded'],
  recovered: [
    'order-started:saved',
    'stock-reserved:unsaved',
    'stock-reserved:saved',
    'payment-charged:unsaved',
    'payment-charged:saved',
    'order-confirmed:unsaved',
  ],
  confirmed: ['order-confirmed:saved', 'order-decided:response-sent'],
  compensating: ['step-failed:unsaved', 'step-failed:saved', 'step-compensated:unsaved'],
} as const;

/** Tests of a service since its process was restarted. */
const testsSince = new Map<string, number>();

/** A process that is killed again and again starts later each time, after 100 ms at first; one that was restarted begins again. */
async function limitBackoff(service: string): Promise<void> {
  const tests = testsSince.get(service) ?? 0;
  testsSince.set(service, (tests + 1) % 4);
  if (tests === 3) expect(await platform.shopctl('restart', service)).toMatchObject({ code: 0 });
  // One that was killed is called again once the gateway has seen that it is back.
  await eventually('the gateway to call orders', { withinMs: 10_000 }, async () => {
    return (await look(platform, randomUUID())).status === 404;
  });
}

describe('one orders instance, killed', () => {
  beforeEach(() => limitBackoff('orders'));

  it.each(boundaries.unrecorded)('at %s: nothing was recorded, the same key makes the order', async (point) => {
    const key = randomUUID();
    const { response } = await placeAndCrash(platform, `orders.${point}`, { key });
    expect(response).toMatchObject({ status: 504, body: { code: 'orders_timeout', traceId: response?.traceId } });
    await untilReady(platform, 'orders');
    expect(await findByKey(platform, key)).toBeUndefined();
    const again = await place(platform, { key });
    expect(again).toMatchObject({ status: 201, body: { status: 'Confirmed' } });
    await expectConfirmedOnce(again.body?.id as string);
  });

  it.each(boundaries.recovered)('at %s: the order is Confirmed, once, in its own trace', async (point) => {
    const key = randomUUID();
    const { response, pid } = await placeAndCrash(platform, `orders.${point}`, { key });
    expect(response).toMatchObject({ status: 504, body: { code: 'orders_timeout', traceId: response?.traceId } });
    await untilReady(platform, 'orders');
    const orderId = (await findByKey(platform, key)) as string;
    expect(await untilDecided(orderId, RECOVERED_MS)).toMatchObject({ id: orderId, status: 'Confirmed' });
    expect(await place(platform, { key })).toMatchObject({ status: 201, body: { id: orderId, status: 'Confirmed' } });
    await expectConfirmedOnce(orderId);
    await expectRecoveredIn(response?.traceId, pid, 1);
    expect(await traceOf(orderId)).toBe(response?.traceId);
  });

  it.each(boundaries.confirmed)('at %s: the order was Confirmed already', async (point) => {
    const key = randomUUID();
    const { response } = await placeAndCrash(platform, `orders.${point}`, { key });
    const orderId = (await findByKey(platform, key)) as string;
    if (point === 'order-decided:response-sent') expect(response).toMatchObject({ status: 201, body: { id: orderId } });
    else expect(response).toMatchObject({ status: 504, body: { code: 'orders_timeout' } });
    await untilReady(platform, 'orders');
    expect(await look(platform, orderId)).toMatchObject({ status: 200, body: { status: 'Confirmed' } });
    expect(await place(platform, { key })).toMatchObject({ status: 201, body: { id: orderId, status: 'Confirmed' } });
    await expectConfirmedOnce(orderId);
    expect(await spansOf(platform, await traceOf(orderId), 'recover order saga')).toEqual([]);
  });

  it.each(boundaries.compensating)('at %s: the order is Cancelled, its stock released once', async (point) => {
    const key = randomUUID();
    const { response, pid } = await placeAndCrash(platform, `orders.${point}`, { key, lines: declined });
    await untilReady(platform, 'orders');
    const orderId = (await findByKey(platform, key)) as string;
    expect(await untilDecided(orderId, RECOVERED_MS)).toMatchObject({
      status: 'Cancelled',
      reason: 'payment declined',
    });
    await expectCancelledOnce(orderId);
    const again = await place(platform, { key, lines: declined });
    expect(again).toMatchObject({
      status: 200,
      body: { id: orderId, status: 'Cancelled', reason: 'payment declined' },
    });
    // From step-failed:saved on the order is decided and its client may have its response.
    if (point === 'step-failed:unsaved') expect(response).toMatchObject({ status: 504 });
    await expectRecoveredIn(await traceOf(orderId), pid, 1);
  });

  it('at order-compensated:saved: the order was Cancelled already', async () => {
    const key = randomUUID();
    await placeAndCrash(platform, 'orders.order-compensated:saved', { key, lines: declined });
    await untilReady(platform, 'orders');
    const orderId = (await findByKey(platform, key)) as string;
    await expectCancelledOnce(orderId);
    expect(await spansOf(platform, await traceOf(orderId), 'recover order saga')).toEqual([]);
  });

  it('while the final statement waits in PostgreSQL: Confirmed by it or by recovery, never twice', async () => {
    const key = randomUUID();
    await using lock = await holdLock('LOCK TABLE outbox IN SHARE MODE');
    const responding = place(platform, { key }).catch(() => undefined);
    await lock.untilAwaited();
    await killOrders();
    expect(await responding).toMatchObject({ status: 504, body: { code: 'orders_timeout' } });
    await lock.release();
    await untilReady(platform, 'orders');
    const orderId = (await findByKey(platform, key)) as string;
    expect(await untilDecided(orderId, RECOVERED_MS)).toMatchObject({ status: 'Confirmed' });
    await expectConfirmedOnce(orderId);
  });

  it('while the last statement of the compensation waits in PostgreSQL: Cancelled, released once', async () => {
    const key = randomUUID();
    await platform.arm('orders.step-compensated:unsaved', 'delay 2000');
    const response = await place(platform, { key, lines: declined });
    expect(response).toMatchObject({ status: 200, body: { status: 'Cancelled', reason: 'payment declined' } });
    await eventually(
      'the response to the release',
      { withinMs: 5_000 },
      async () => (await platform.armed()).length === 0,
    );
    await using lock = await holdLock('SELECT FROM orders WHERE id = $1 FOR UPDATE', [response.body?.id]);
    await lock.untilAwaited();
    await killOrders();
    await lock.release();
    await untilReady(platform, 'orders');
    await expectCancelledOnce(response.body?.id as string);
  });
});

async function killOrders(): Promise<void> {
  const { process: victim } = await platform.instance('orders-1');
  process.kill(victim?.pid as number, 'SIGKILL');
}

/** Takes a lock in the orders database, as the schema's owner can, and holds it until it is released. */
async function holdLock(statement: string, values: readonly unknown[] = []) {
  const url = new URL(platform.databaseUrls.orders);
  const { postgres } = JSON.parse(await platform.secrets()) as Secrets;
  url.username = 'orders_owner';
  url.password = postgres.owners.orders;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query('BEGIN');
  await client.query(statement, [...values]);
  let released = false;
  const release = async () => {
    if (released) return;
    released = true;
    await client.query('ROLLBACK');
    await client.end();
  };
  return {
    /** Resolves when a statement of orders waits for a lock. */
    async untilAwaited() {
      await eventually('a statement to wait for the lock', { withinMs: 10_000 }, async () => {
        const { rows } = await client.query(
          `SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.usename = 'orders'`,
        );
        return rows.length > 0;
      });
    },
    release,
    [Symbol.asyncDispose]: release,
  };
}

describe('the relay, killed', () => {
  beforeEach(() => limitBackoff('orders'));

  it.each<[string, string, readonly number[]]>([
    ['batch-claimed:unpublished', 'with rows selected', [1]],
    ['event-published:unconfirmed', 'with a message sent and not confirmed', [1, 2]],
    ['event-confirmed:unmarked', 'with a message confirmed and not marked', [2]],
    ['batch-marked:committed', 'with a row marked', [1]],
  ])('at %s, %s: one shipment, deliveries %j', async (point, _what, deliveries) => {
    const key = randomUUID();
    await placeAndCrash(platform, `orders.${point}`, { key });
    await untilReady(platform, 'orders');
    const orderId = (await findByKey(platform, key)) as string;
    const ledger = () => readLedger(platform, orderId);
    await eventually('the row to be published', { withinMs: 2_000, seen: ledger }, async () =>
      (await ledger()).outbox.every(({ published }) => published),
    );
    await expectConfirmedOnce(orderId);
    const traceId = await traceOf(orderId);
    const seen = () => spansOf(platform, traceId, 'deliver order.confirmed');
    const spans = await eventually(
      'the span of each delivery',
      { withinMs: 5_000, seen: async () => (await seen()).length },
      async () => {
        const found = await seen();
        return found.length >= (deliveries[0] as number) && found;
      },
    );
    expect(deliveries).toContain(spans.length);
    const inserts = await Promise.all(spans.map(({ spanId }) => shipmentInsertsUnder(traceId, spanId)));
    expect(inserts.toSorted(), 'shipments inserted by the deliveries').toEqual(spans.length === 1 ? [1] : [0, 1]);
  });
});

async function shipmentInsertsUnder(traceId: string, spanId: string): Promise<number> {
  const children = await childrenOf(platform, traceId, spanId);
  return children.filter(({ name }) => name === 'INSERT Shipments').length;
}

describe('shipping, killed', () => {
  beforeEach(() => limitBackoff('shipping'));

  it.each<[string, string, string, number | undefined]>([
    ['message-received:unrecorded', 'before the transaction', 'kill', 1],
    ['shipment-recorded:uncommitted', 'before the commit', 'kill', 1],
    ['shipment-committed:message-unacknowledged', 'committed and not acknowledged', 'kill', 0],
    // The acknowledgement needs a moment to leave the process.
    ['shipment-committed:message-acknowledged', 'acknowledged', 'kill 100', undefined],
  ])('at %s, %s: one shipment', async (point, _what, action, insertsAfterwards) => {
    const key = randomUUID();
    const { response, pid } = await placeAndCrash(platform, `shipping.${point}`, { key, action });
    expect(response).toMatchObject({ status: 201 });
    await untilReady(platform, 'shipping');
    const orderId = response?.body?.id as string;
    await expectConfirmedOnce(orderId);
    // Messages come in order: once the next order is shipped, everything before it has been delivered.
    const next = await place(platform);
    await expectConfirmedOnce(next.body?.id as string);
    const traceId = response?.traceId as string;
    await eventually('the delivery of the next order to be exported', { withinMs: 5_000 }, async () => {
      return (await spansOf(platform, next.traceId as string, 'deliver order.confirmed')).length === 1;
    });
    const later = (await spansOf(platform, traceId, 'deliver order.confirmed')).filter((span) => span.pid !== pid);
    const inserts = await Promise.all(later.map(({ spanId }) => shipmentInsertsUnder(traceId, spanId)));
    expect(inserts, 'shipments inserted by deliveries to the next process').toEqual(
      insertsAfterwards === undefined ? [] : [insertsAfterwards],
    );
  });
});

const participants = [
  ['stock', 'reservation-decided:uncommitted', 'stock unavailable'],
  ['stock', 'reservation-decided:response-unsent', 'stock unavailable'],
  ['payments', 'charge-attempted:undecided', 'payment unavailable'],
  ['payments', 'charge-decided:response-unsent', 'payment unavailable'],
] as const;

describe('the only instance of a participant, killed', () => {
  it.each(participants)('%s at %s: Confirmed once, or Cancelled and nothing kept', async (service, point, reason) => {
    const { response } = await placeAndCrash(platform, `${service}.${point}`, { key: randomUUID() });
    const isConfirmed = response?.status === 201;
    expect(response?.body).toMatchObject(isConfirmed ? { status: 'Confirmed' } : { status: 'Cancelled', reason });
    await untilReady(platform, service);
    await untilDrained(platform);
    const { reservations, payments } = await readLedger(platform, response?.body?.id as string);
    expect(reservations.filter(({ state }) => state === 'reserved')).toHaveLength(isConfirmed ? 1 : 0);
    expect(payments.filter(({ state }) => state === 'accepted')).toHaveLength(isConfirmed ? 1 : 0);
    await eventually(
      'an order to be confirmed again',
      { withinMs: 10_000 },
      async () => (await place(platform)).status === 201,
    );
  });
});

describe('one of two instances, killed', () => {
  beforeAll(async () => {
    const replicas = ['orders=2', 'stock=2', 'payments=2'].flatMap((count) => ['--replicas', count]);
    expect(await platform.shopctl('up', '--no-build', ...replicas)).toMatchObject({ code: 0 });
  });

  it.each(participants)('%s at %s: the other responds, and the order is Confirmed once', async (service, point) => {
    const { response } = await placeAndCrash(platform, `${service}.${point}`, { key: randomUUID() });
    expect(response).toMatchObject({ status: 201, body: { status: 'Confirmed' } });
    await expectConfirmedOnce(response?.body?.id as string);
    await untilReady(platform, service);
    await untilReadmitted(platform, service);
  });

  it.each(boundaries.recovered)('orders at %s: the other adopts the order and confirms it once', async (point) => {
    const key = randomUUID();
    const { response, instance, at } = await placeAndCrash(platform, `orders.${point}`, { key });
    expect(response).toMatchObject({ status: 504, body: { code: 'orders_timeout' } });
    const orderId = (await findByKey(platform, key)) as string;
    expect(await untilDecided(orderId, ADOPTED_MS)).toMatchObject({ status: 'Confirmed' });
    expect(performance.now() - at, 'ms until it was adopted and decided').toBeLessThan(ADOPTED_MS);
    await expectConfirmedOnce(orderId);
    const [span] = await eventually('the span of the recovery', { withinMs: 5_000 }, async () => {
      const found = await spansOf(platform, response?.traceId as string, 'recover order saga');
      return found.length > 0 && found;
    });
    expect(['orders-1', 'orders-2']).toContain(span?.instance);
    expect(instance).toMatch(/^orders-/);
    await untilReady(platform, 'orders');
  });

  it.each(boundaries.compensating)('orders at %s: the other ends the compensation', async (point) => {
    const key = randomUUID();
    await placeAndCrash(platform, `orders.${point}`, { key, lines: declined });
    const orderId = (await findByKey(platform, key)) as string;
    expect(await untilDecided(orderId, ADOPTED_MS)).toMatchObject({ status: 'Cancelled', reason: 'payment declined' });
    await expectCancelledOnce(orderId);
    await untilReady(platform, 'orders');
  });

  it('orders are taken by the other meanwhile', async () => {
    // One that was killed before is ready, and may still be ejected: then there is no other one.
    await untilReadmitted(platform, 'orders');
    await placeAndCrash(platform, 'orders.stock-reserved:saved', { key: randomUUID() });
    const responses = await Promise.all(Array.from({ length: 10 }, () => place(platform)));
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
    await untilReady(platform, 'orders');
  });
});

describe('afterwards', () => {
  it('the audit finds the ledger balanced; only what killed processes had counted is not known', async () => {
    expectBalancedAfterKills(await platform.shopctl('audit', '--json'));
  });
});
