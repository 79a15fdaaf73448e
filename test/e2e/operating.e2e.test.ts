/*
 * Goal: an operator's commands have their effect without a restart and keep it until they are reversed. "changes" lists
 * them; a fault is not listed.
 * Method: one platform through the built "shopctl", and orders over HTTP.
 */
import { createHash } from 'node:crypto';
import { DEAD_LETTERS_QUEUE, ORDER_CONFIRMED_QUEUE } from '@shop/kit/topology.ts';
import amqp from 'amqplib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RecordedChange } from '../../cli/src/platform/change-log.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { place } from './support/client.ts';
import { eventually } from './support/eventually.ts';

/** The gateway polls its file twice a second; the machine may be busy. */
const FOLLOWED_MS = 10_000;

/** A relay cycle, the broker and shipping, on a busy machine. */
const SHIPPED_MS = 20_000;

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform({ project: 'e2e-operating', direct: true });
});
afterAll(() => platform?.stop());

async function shopctl(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await platform.shopctl(...args, '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

/** `restart payments: ready -> ready`, the oldest first. */
async function changes(): Promise<readonly string[]> {
  const { changes } = (await shopctl('changes')) as { changes: readonly RecordedChange[] };
  return changes.map(({ kind, target, from, to }) => `${kind} ${target}: ${from} -> ${to}`);
}

const pidOf = async (name: string) => (await platform.instance(name)).process?.pid;

/** Puts a message into a queue as it is. */
async function publish(queue: string, messageId: string, content: string): Promise<void> {
  const connection = await amqp.connect(platform.brokerUrl);
  const channel = await connection.createConfirmChannel();
  channel.sendToQueue(queue, Buffer.from(content), { messageId, type: 'order.confirmed', persistent: true });
  await channel.waitForConfirms();
  await connection.close();
}

/** When every gateway has read the share. */
async function followed(percent: number): Promise<void> {
  await eventually(`the gateway sheds ${percent} %`, { withinMs: FOLLOWED_MS }, async () => {
    const last = (await platform.logs('gateway')).findLast(({ msg }) => msg.startsWith('the share of orders'));
    return (last as { shedPercent?: number } | undefined)?.shedPercent === percent ? true : undefined;
  });
}

it('shed: the share of orders that follows from their keys is refused, and no other, until the share is 0', async () => {
  const gateway = await pidOf('gateway-1');
  const keys = Array.from({ length: 24 }, (_, index) => `shed-${index}`);
  const inHalf = (key: string) => createHash('sha256').update(key).digest().readUInt32BE(0) / 2 ** 32 < 0.5;
  const expected = keys.map((key) => (inHalf(key) ? '503 order_shed' : '201 Confirmed'));
  const seen = () =>
    Promise.all(
      keys.map(async (key) => {
        const { status, body } = await place(platform, { key });
        return `${status} ${body?.code ?? body?.status}`;
      }),
    );
  expect(await shopctl('shed', '50')).toMatchObject({ shedPercent: 50, changed: true });
  await followed(50);
  expect(await seen()).toEqual(expected);
  // What was shed is shed again, what was placed is found again.
  expect(await seen()).toEqual(expected);
  expect(await shopctl('status')).toMatchObject({ shedPercent: 50 });
  expect(await pidOf('gateway-1')).toBe(gateway);

  await shopctl('restart', 'gateway', '--reason', 'shedding survives it');
  expect(await seen()).toEqual(expected);
  await shopctl('shed', '0');
  await followed(0);
  expect(new Set(await seen())).toEqual(new Set(['201 Confirmed']));
});

it('dlq: a letter is given back once, another one is discarded, and each look leaves them where they are', async () => {
  const { body } = await place(platform);
  const shipped = async (orderId: unknown) =>
    (await platform.query('shipping', 'SELECT 1 FROM "Shipments" WHERE "OrderId" = $1', [orderId])).length;
  await eventually('the order is shipped', { withinMs: SHIPPED_MS }, async () => (await shipped(body?.id)) === 1);
  const [row] = await platform.query<{ id: string; payload: object }>(
    'orders',
    'SELECT id, payload FROM outbox WHERE order_id = $1 LIMIT 1',
    [body?.id],
  );
  const poison = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
  await publish(DEAD_LETTERS_QUEUE, String(row?.id), JSON.stringify(row?.payload));
  await publish(ORDER_CONFIRMED_QUEUE, poison, '{"id": not JSON');
  const ids = async () => ((await shopctl('dlq', 'ls')) as { letters: { id: string }[] }).letters.map(({ id }) => id);
  await eventually('both are dead letters', { withinMs: SHIPPED_MS }, async () => (await ids()).length === 2);
  expect(await shopctl('dlq', 'show', poison.slice(0, 8))).toMatchObject({
    id: poison,
    queue: ORDER_CONFIRMED_QUEUE,
    reason: 'rejected',
    unreadable: 'the message is not JSON',
  });
  expect(await shopctl('dlq', 'discard', poison, '--dry-run')).toMatchObject({ dryRun: true });
  expect((await ids()).toSorted()).toEqual([poison, row?.id].toSorted());

  await shopctl('dlq', 'retry', String(row?.id));
  expect((await platform.shopctl('dlq', 'discard', '--all')).stderr).toContain('there is no terminal to ask on');
  await shopctl('dlq', 'discard', '--all', '--yes', '--reason', 'poison');
  expect(await ids()).toEqual([]);
  // The inbox knows the one that was given back: it has no second effect.
  await eventually('the repeated message is ignored', { withinMs: SHIPPED_MS }, async () =>
    (await platform.logs('shipping')).some(
      ({ msg, order_id }) => msg === 'a repeated message had no effect' && order_id === body?.id,
    ),
  );
  expect(await shipped(body?.id)).toBe(1);
  expect((await changes()).slice(-2)).toEqual([
    `dead-letter ${row?.id}: shipping.dead-letters -> shipping.order-confirmed`,
    `dead-letter ${poison}: shipping.dead-letters -> discarded`,
  ]);
  expect((await platform.shopctl('dlq', 'show', poison, '--json')).stderr).toContain('dead_letter_not_found');
});

it('changes: what the operator did is listed in order, and a fault is not', async () => {
  await shopctl('chaos', 'inject', 'catalog', 'pause', '--ttl', '1s');
  await shopctl('flags', 'on', 'publish-order-confirmed-v2');
  await shopctl('up');
  expect((await changes()).filter((change) => !change.startsWith('dead-letter'))).toEqual([
    'start platform: stopped -> ready',
    'shed gateway: 0 % -> 50 %',
    'restart gateway: ready -> ready',
    'shed gateway: 50 % -> 0 %',
    'flag publish-order-confirmed-v2: off -> on',
  ]);
});
