/*
 * Goal: what holds for one order holds for many concurrently: every response, every trace, every unit and every
 * kopiyka.
 * Method: a real platform with its proxies; a bounded loop of clients; each order's trace is compared with its
 * contract.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccountReader } from '../../cli/src/trace/accounting.ts';
import { assertTrace } from '../../cli/src/trace/assert.ts';
import { countsOf, type ExpectedSpan, expectedTree, loadContract } from '../../cli/src/trace/contract.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { type ClientResponse, type Line, place } from './support/client.ts';
import { eventually } from './support/eventually.ts';
import { countRows, findImbalances, untilDrained } from './support/ledger.ts';
import { inParallel } from './support/parallel.ts';

const ORDERS = 200;
const CLIENTS = 20;
/** How long a trace may take to be whole, and must then stay so, in ms. */
const WHOLE_MS = 15_000;
const SETTLE_MS = 1_000;
/** Traces watched at a time. */
const WATCHED = 50;

let platform: TestPlatform;
let confirmed: ExpectedSpan;
let declined: ExpectedSpan;

beforeAll(async () => {
  platform = await startPlatform({ project: 'e2e-load' });
  const { root } = platform.project;
  confirmed = expectedTree(await loadContract('confirmed', root));
  declined = expectedTree(await loadContract('declined', root));
});
afterAll(() => platform?.stop());

const placeAll = (count: number, linesOf: (index: number) => readonly Line[]) =>
  inParallel(
    CLIENTS,
    Array.from({ length: count }, (_, index) => index),
    (index) => place(platform, { lines: linesOf(index) }),
  );

/** What is wrong with the traces of these responses, one text each; empty when all meet their contract. */
async function findTraceFaults(
  responses: readonly ClientResponse[],
  expected: ExpectedSpan,
): Promise<readonly string[]> {
  const accounting = createAccountReader(platform.telemetry);
  const found = await inParallel(WATCHED, responses, async ({ traceId }) => {
    const options = { backend: platform.telemetry, traceId: traceId as string, expected, accounting };
    const result = await assertTrace({ ...options, timeoutMs: WHOLE_MS, settleMs: SETTLE_MS });
    return result.verdict === 'pass' ? [] : [`trace ${traceId}: ${result.explanation}`];
  });
  return found.flat();
}

function countStatuses(responses: readonly ClientResponse[]): Readonly<Record<string, number>> {
  const keys = responses.map(({ status, body }) =>
    `${status} ${body?.code ?? body?.status} ${body?.reason ?? ''}`.trim(),
  );
  return Object.fromEntries(
    Map.groupBy(keys, (key) => key)
      .entries()
      .map(([key, same]) => [key, same.length]),
  );
}

/** Value of the gauge `shop.outbox.pending`, summed over instances. */
async function pendingGauge(): Promise<number | undefined> {
  const points = await platform.telemetry.metrics(['shop.outbox.pending']);
  const values = points
    .filter(({ stale }) => !stale)
    .map((point) => (point.type === 'histogram' ? Number.NaN : point.value));
  return values.length === 0 ? undefined : Math.max(...values);
}

async function expectDrainedAndBalanced(): Promise<void> {
  await untilDrained(platform);
  expect(await findImbalances(platform)).toEqual([]);
  await eventually(
    'shop.outbox.pending to be 0',
    { withinMs: 5_000, seen: pendingGauge },
    async () => (await pendingGauge()) === 0,
  );
}

describe('the contract', () => {
  it('of a confirmed order has 31 spans in six services, 16 of them SQL over five databases', () => {
    expect(countsOf(confirmed)).toMatchObject({ spans: 31, sql: 16 });
    expect(countsOf(confirmed).services).toHaveLength(6);
    expect(countsOf(confirmed).databases).toHaveLength(5);
  });
});

describe(`${ORDERS} orders of ${CLIENTS} concurrent clients`, () => {
  it('all confirmed: each 201 within 10 s, each trace as its contract, the ledger balances', {
    timeout: 120_000,
  }, async () => {
    const responses = await placeAll(ORDERS, () => [{ productId: 1, quantity: 1 }]);
    expect(countStatuses(responses)).toEqual({ '201 Confirmed': ORDERS });
    expect(Math.max(...responses.map(({ tookMs }) => tookMs))).toBeLessThan(10_000);
    expect(new Set(responses.map(({ body }) => body?.id)).size).toBe(ORDERS);
    expect(new Set(responses.map(({ traceId }) => traceId)).size).toBe(ORDERS);
    await expectDrainedAndBalanced();
    expect(await findTraceFaults(responses, confirmed)).toEqual([]);
  });

  it('every tenth declined: the others are not disturbed, both shapes hold', { timeout: 120_000 }, async () => {
    const isDear = (index: number) => index % 10 === 0;
    const responses = await placeAll(ORDERS, (index) => [{ productId: isDear(index) ? 12 : 2, quantity: 1 }]);
    expect(countStatuses(responses)).toEqual({
      '201 Confirmed': ORDERS * 0.9,
      '200 Cancelled payment declined': ORDERS * 0.1,
    });
    await expectDrainedAndBalanced();
    expect(
      await findTraceFaults(
        responses.filter(({ status }) => status === 201),
        confirmed,
      ),
    ).toEqual([]);
    expect(
      await findTraceFaults(
        responses.filter(({ status }) => status === 200),
        declined,
      ),
    ).toEqual([]);
  });

  it('of four products in turn, in any order of lines: no deadlock, no order lost', { timeout: 120_000 }, async () => {
    const products = [3, 4, 5, 6];
    const rotated = (index: number) => [...products.slice(index % 4), ...products.slice(0, index % 4)];
    const responses = await placeAll(ORDERS, (index) =>
      rotated(index).map((productId) => ({ productId, quantity: 1 })),
    );
    expect(countStatuses(responses)).toEqual({ '201 Confirmed': ORDERS });
    await expectDrainedAndBalanced();
    const four = expectedTree(await loadContract('confirmed', platform.project.root), { distinctProducts: 4 });
    expect(await findTraceFaults(responses, four)).toEqual([]);
  });
});

describe('50 clients for the last 10 units', () => {
  it('exactly 10 are Confirmed, 40 Cancelled as out of stock, and none is left', async () => {
    const line = { productId: 10, quantity: 1 };
    const responses = await Promise.all(Array.from({ length: 50 }, () => place(platform, { lines: [line] })));
    expect(countStatuses(responses)).toEqual({ '201 Confirmed': 10, '200 Cancelled out of stock': 40 });
    await expectDrainedAndBalanced();
    const [row] = await platform.query<{ on_hand: number }>(
      'stock',
      'SELECT on_hand FROM inventory WHERE product_id = 10',
    );
    expect(row?.on_hand).toBe(0);
    // Out of stock is a response, not a failure: the breaker is closed.
    expect(await place(platform)).toMatchObject({ status: 201 });
  });
});

describe('one Idempotency-Key', () => {
  it('of 20 concurrent requests makes exactly one order', async () => {
    const key = randomUUID();
    const body = JSON.stringify({ customer: 'Olena', lines: [{ productId: 1, quantity: 2 }] });
    const before = await countRows(platform);
    const responses = await Promise.all(Array.from({ length: 20 }, () => place(platform, { key, body })));
    const ids = new Set(responses.filter(({ status }) => status === 201).map(({ body: order }) => order?.id));
    expect(ids.size).toBe(1);
    // Those that came while the first was in progress get that as their response, with the order's place.
    for (const response of responses.filter(({ status }) => status !== 201)) {
      expect(response).toMatchObject({ status: 409, body: { code: 'request_in_progress' } });
      expect(response.headers.location).toBe(`/api/orders/${[...ids][0]}`);
    }
    await expectDrainedAndBalanced();
    const after = await countRows(platform);
    expect((after['orders.orders'] ?? 0) - (before['orders.orders'] ?? 0)).toBe(1);
    expect(await place(platform, { key, body })).toMatchObject({ status: 201, body: { id: [...ids][0] } });
  });

  it('of other contents is refused, also at the same time', async () => {
    const key = randomUUID();
    const bodyOf = (quantity: number) => JSON.stringify({ customer: 'Olena', lines: [{ productId: 1, quantity }] });
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, index) => place(platform, { key, body: bodyOf(index + 1) })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const response of responses.filter(({ status }) => status !== 201)) {
      expect(response).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
    }
    await expectDrainedAndBalanced();
  });
});

describe('afterwards', () => {
  it('the audit balances databases, queues and metrics', async () => {
    expect(await platform.shopctl('audit')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('the ledger balances'),
    });
  });
});
