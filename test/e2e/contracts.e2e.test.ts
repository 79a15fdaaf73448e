/*
 * Goal: two versions of an event can be published side by side, switched while the platform runs. There is one shipment
 * for an order, and with the flag off the trace is the one of the contract.
 * Method: a real platform; the flag goes on and off with the command, and each order's rows and trace are looked at.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccountReader } from '../../cli/src/trace/accounting.ts';
import { assertTrace } from '../../cli/src/trace/assert.ts';
import { countsOf, expectedTree, loadContract } from '../../cli/src/trace/contract.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { type ClientResponse, place } from './support/client.ts';
import { eventually } from './support/eventually.ts';
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

it('off again the trace is the one of the contract, and the ledger of all orders balances', async () => {
  await turn('off');
  await expectTrace(await place(platform));
  await untilDrained(platform);
  const { code, stdout } = await platform.shopctl('audit', '--json');
  expect(code, stdout).toBe(0);
});
