/**
 * Goal: the audit after a load checks the load's own orders, and keeps what it found. Method: a balanced ledger in real
 * databases whose five orders are the load's; each case changes something while the audit settles.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import { ids, type LedgerFixture, openLedgerFixture } from '../audit/testing/ledger-fixture.ts';
import { auditLoad } from './post-run.ts';
import { aRecord } from './testing/records.ts';

let ledger: LedgerFixture;
let folder: string;

beforeAll(async () => {
  ledger = await openLedgerFixture();
  folder = await mkdtemp(join(tmpdir(), 'shop-load-'));
}, START_TIMEOUT_MS);
afterAll(async () => {
  await ledger?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await ledger.reset();
  await ledger.alter('orders', "UPDATE orders SET idempotency_key = 'load-1-whole-' || left(id::text, 1)");
});

const statusOf = { 1: 'Confirmed', 2: 'Confirmed', 3: 'Cancelled', 4: 'Cancelled', 5: 'Cancelled' };
const records = Object.values(ids)
  .filter((id) => id !== ids.unplaced)
  .map((orderId) => {
    const number = orderId[0] as unknown as keyof typeof statusOf;
    return aRecord({ orderId, key: `load-1-whole-${number}`, status: statusOf[number] });
  });

/** Cancelled for want of stock: nothing but the order itself, and stock's refusal. */
async function placeAnOrder(key: string): Promise<void> {
  await ledger.alter(
    'stock',
    `INSERT INTO reservations (order_id, reserve_key, state, lines, insufficient_product_ids)
     VALUES ('${ids.unplaced}', '${ids.unplaced}:reserve', 'insufficient', '[]', '{10}')`,
  );
  await ledger.alter(
    'orders',
    `INSERT INTO orders (id, customer, lines, total_kopiykas, currency, status, reason, state, open, owner, idempotency_key, decided_at)
     SELECT '${ids.unplaced}', customer, lines, total_kopiykas, currency, status, reason, state, open, owner, '${key}', now()
     FROM orders WHERE id = '${ids.outOfStock}'`,
  );
}

/** What the audit says, when `meanwhile` happens while it settles. */
async function auditing(meanwhile: () => Promise<void>, reported = records) {
  const { target } = ledger;
  let first = true;
  const changed = {
    ...target,
    async queues() {
      if (first) await meanwhile();
      first = false;
      return target.queues();
    },
  };
  return auditLoad(
    async () => changed,
    // The responses are of now: an order from long after them would not be from the time of the run.
    { runId: 'load-1', folder, records: reported.map((record) => ({ ...record, at: Date.now() })), before: undefined },
    { signal: new AbortController().signal, onProgress: () => undefined },
  );
}

const unexpectedOrders = ({ report }: Awaited<ReturnType<typeof auditing>>) =>
  typeof report === 'string' ? report : report.invariants.find(({ id }) => id === 'I3');

describe('an order that appears while the audit settles', () => {
  it('is left out when it is of others', async () => {
    const audited = await auditing(() => placeAnOrder('another-client'));
    expect(unexpectedOrders(audited)).toMatchObject({
      verdict: 'pass',
      violations: [],
      evidence: '0 unexpected orders of the run, 1 of others left out',
    });
  });

  it("is the run's when it has its key: of a request that was cut off", async () => {
    expect(unexpectedOrders(await auditing(() => placeAnOrder('load-1-whole-9')))).toMatchObject({ verdict: 'pass' });
  });

  it('is held against the run when its response said that nothing was recorded', async () => {
    const refused = aRecord({ key: 'load-1-whole-9', http: 503, status: undefined, orderId: undefined });
    const audited = await auditing(() => placeAnOrder('load-1-whole-9'), [...records, refused]);
    expect(unexpectedOrders(audited)).toMatchObject({ verdict: 'fail', violations: [{ orderId: ids.unplaced }] });
  });
});

describe('how sagas ended', () => {
  const fixture = {
    Confirmed: 2,
    'Cancelled: payment declined': 1,
    'Cancelled: payment unavailable': 1,
    'Cancelled: out of stock': 1,
  };

  it('is counted of the orders of the run alone', async () => {
    const { sagas } = await auditing(() => placeAnOrder('another-client'));
    expect(sagas).toEqual(fixture);
  });

  it('is read after the audit: an order that came late counts', async () => {
    const { sagas } = await auditing(() => placeAnOrder('load-1-whole-9'));
    expect(sagas).toEqual({ ...fixture, 'Cancelled: out of stock': 2 });
  });
});

describe('what was found out about keys', () => {
  it('is kept when the audit breaks off', async () => {
    await ledger.alter('orders', 'ALTER TABLE orders DROP CONSTRAINT orders_idempotency_key_key');
    await placeAnOrder('load-1-whole-1');
    const options = { runId: 'load-1', folder, records, before: undefined };
    const { signal } = new AbortController();
    const onProgress = () => {
      throw new Error('broke off');
    };
    expect(await auditLoad(async () => ledger.target, options, { signal, onProgress })).toEqual({
      report: 'broke off',
      repeatedKeys: ['load-1-whole-1'],
      sagas: 'broke off',
    });
  });

  it('is nothing where the platform is unavailable', async () => {
    const unavailable = async () => Promise.reject(new Error('not running'));
    const options = { runId: 'load-1', folder, records, before: undefined };
    const { signal } = new AbortController();
    expect(await auditLoad(unavailable, options, { signal, onProgress: () => undefined })).toEqual({
      report: 'not running',
      repeatedKeys: 'not running',
      sagas: 'not running',
    });
  });
});
