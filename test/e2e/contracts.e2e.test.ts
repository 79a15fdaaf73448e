/*
 * Goal: two versions of an event can be published side by side, switched while the platform runs. There is one shipment
 * for an order, and with the flag off the trace is the one of the contract.
 * Method: a real platform; the flag goes on and off with the command, and each order's rows and trace are looked at. A rollout
 * has a plan of seconds.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccountReader } from '../../cli/src/trace/accounting.ts';
import { assertTrace } from '../../cli/src/trace/assert.ts';
import { countsOf, expectedTree, loadContract } from '../../cli/src/trace/contract.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { type ClientResponse, place } from './support/client.ts';
import { COSTLY_POLL_MS, eventually } from './support/eventually.ts';
import { untilDrained } from './support/ledger.ts';

const FLAG = 'publish-order-confirmed-v2';
let platform: TestPlatform;

beforeAll(async () => {
  platform = await startPlatform({ project: 'e2e-contracts', direct: true });
});
afterAll(() => platform?.stop());

/** Switches the flag and waits until orders has said that it saw it. */
async function turn(word: 'on' | 'off'): Promise<void> {
  const { code, stdout } = await platform.shopctl('flags', word, FLAG, '--json');
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { name: FLAG, on: word === 'on', changed: true }]);
  const wanted = word === 'on' ? [FLAG] : [];
  await eventually(`orders to see the flag ${word}`, { withinMs: 5_000 }, async () => {
    const changes = (await platform.logs('orders')).filter(({ msg }) => msg === 'feature flags changed');
    return JSON.stringify(changes.at(-1)?.flags) === JSON.stringify(wanted);
  });
}

const orderIdOf = ({ body }: ClientResponse) => String(body?.id);

const typesIn = async (database: 'orders' | 'shipping', table: string, id: string) =>
  (
    await platform.query<{ type: string }>(database, `SELECT type FROM ${table} WHERE order_id = $1 ORDER BY type`, [
      id,
    ])
  ).map(({ type }) => type);

async function expectTrace(response: ClientResponse): Promise<void> {
  const expected = expectedTree(await loadContract('confirmed', platform.project.root));
  expect(countsOf(expected)).toMatchObject({ spans: 31 });
  const result = await assertTrace({
    backend: platform.telemetry,
    traceId: response.traceId as string,
    expected,
    accounting: createAccountReader(platform.telemetry),
    timeoutMs: 15_000,
    settleMs: 1_000,
  });
  expect(result.verdict, result.explanation).toBe('pass');
}

it('with the flag off an order has one event and the trace of the contract', async () => {
  const response = await place(platform);
  expect(response.body).toMatchObject({ status: 'Confirmed' });
  await expectTrace(response);
  expect(await typesIn('orders', 'outbox', orderIdOf(response))).toEqual(['order.confirmed']);
});

it('with the flag on an order has both versions, taken both by shipping, and one shipment', async () => {
  await turn('on');
  const response = await place(platform);
  expect(response.body).toMatchObject({ status: 'Confirmed' });
  const both = ['order.confirmed', 'order.confirmed.v2'];
  const id = orderIdOf(response);
  await eventually('shipping to take both versions', { withinMs: 15_000 }, async () => {
    const taken = await typesIn('shipping', 'inbox', id);
    return taken.length === both.length;
  });
  expect(await typesIn('orders', 'outbox', id)).toEqual(both);
  expect(await typesIn('shipping', 'inbox', id)).toEqual(both);
  expect(
    await platform.query('shipping', 'SELECT "Lines" AS lines FROM "Shipments" WHERE "OrderId" = $1', [id]),
  ).toEqual([{ lines: [{ productId: 1, quantity: 1 }] }]);
});

it('with the flag on verify, order and trace assert hold orders to the trace of both versions', async () => {
  const both = { spans: 39, events: ['order.confirmed', 'order.confirmed.v2'] };
  const verified = await platform.shopctl('verify', '--json');
  expect(verified.code, verified.stdout).toBe(0);
  const { checks } = JSON.parse(verified.stdout) as { checks: { id: string; contract?: object }[] };
  expect(checks.find(({ id }) => id === 'confirmed-trace')?.contract).toEqual(both);
  const placed = JSON.parse((await platform.shopctl('order', '--json')).stdout);
  expect(placed.trace).toMatchObject({ ...both, complete: true });
  const asserted = await platform.shopctl('trace', 'assert', placed.traceId, '--json');
  expect([asserted.code, JSON.parse(asserted.stdout)]).toMatchObject([0, { verdict: 'pass', expected: both }]);
  // Spans of version 2 are too many where it is not to be published.
  const alone = await platform.shopctl('trace', 'assert', placed.traceId, '--set', 'orderConfirmedV2=0');
  expect(alone.code, alone.stdout).toBe(1);
});

it('off again the trace is the one of the contract, and the ledger of all orders balances', async () => {
  await turn('off');
  await expectTrace(await place(platform));
  await untilDrained(platform);
  const { code, stdout } = await platform.shopctl('audit', '--json');
  expect(code, stdout).toBe(0);
});

/** One step of 2 s. */
const planWith = ({ limit, requests }: { limit: string; requests: number }) => `
version: shop.deploy/v1
service: orders
strategy: canary
baseline: running
steps: [{ weight: 50, requests: ${requests}, for: 2s }]
limit: ${limit}
analysis:
  alpha: 0.01
  errors: { tolerate: 1 }
  slow: { above: p95, tolerate: 2, warm-up: 20 }
  margin: 20%
  guards: [dead-letter, total-errors]
`;

it('a rollout without orders is unknown; with enough of them it ends on for all, and no other begins meanwhile', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shop-rollout-'));
  await using _ = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
  const file = join(folder, 'plan.yaml');
  const rollOut = async (limit: string, requests: number) => {
    await writeFile(file, planWith({ limit, requests }));
    return platform.shopctl('flags', 'rollout', FLAG, '--plan', file, '--json');
  };
  const unknown = await rollOut('3s', 30);
  expect(unknown.code, unknown.stderr).toBe(5);
  expect(JSON.parse(unknown.stdout)).toMatchObject({ end: 'inconclusive', on: { requests: 0 } });

  const over = new AbortController();
  const customers = Array.from({ length: 3 }, async () => {
    // At a rate that leaves processors to the platforms of other files.
    while (!over.signal.aborted) await Promise.all([place(platform), delay(100)]);
  });
  try {
    const tooFew = await rollOut('3s', 100_000);
    expect([tooFew.code, tooFew.stderr]).toEqual([2, expect.stringContaining('plan_out_of_reach')]);
    const rollout = rollOut('60s', 40);
    await eventually('the rollout to begin', { withinMs: 20_000, everyMs: COSTLY_POLL_MS }, async () => {
      const { stdout } = await platform.shopctl('flags', 'rollouts', '--json');
      const { rollouts } = JSON.parse(stdout) as { rollouts: { isOver: boolean }[] };
      return rollouts.some(({ isOver }) => !isOver);
    });
    const deploy = await platform.shopctl('deploy', 'orders', '--strategy', 'rolling');
    expect([deploy.code, deploy.stderr]).toEqual([2, expect.stringContaining(`a rollout of the flag ${FLAG}`)]);
    const { code, stdout, stderr } = await rollout;
    expect(code, stdout + stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ end: 'promoted', percent: 100 });
  } finally {
    over.abort();
    await Promise.all(customers);
  }
  await turn('off');
});
