/*
 * Goal: an operator ends the effect of a fault without the commands for faults, and the fault's own revert then finds
 * nothing to do and damages nothing.
 * Method: a real platform. Each fault is injected for longer than the test lasts, its effect is ended by the operator
 * command alone, and an order is confirmed while the lease is still active.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readChanges } from '../../cli/src/platform/change-log.ts';
import { mountObstacle } from '../../cli/src/process/quota-filesystem.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import * as chaos from './support/chaos.ts';
import { place } from './support/client.ts';
import { eventually } from './support/eventually.ts';
import { libfaketime, libfaketimeEnv } from './support/libfaketime.ts';

/** Breakers are open for 5 s. */
const CONFIRMED_MS = 20_000;
const DRAINED_MS = 20_000;

const cannotMount = await mountObstacle();
if (cannotMount !== undefined) console.warn(`a full disk is not tested: ${cannotMount}`);

let platform: TestPlatform;

beforeAll(async () => {
  platform = await startPlatform({
    project: 'e2e-ops',
    env: libfaketimeEnv,
  });
});
afterAll(() => platform?.stop());
afterEach(({ task }) => chaos.recoverFrom(task, platform));

async function ops<T>(...words: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await platform.shopctl('ops', ...words, '--json');
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return JSON.parse(stdout) as T;
}

interface Sessions {
  readonly sessions: readonly { readonly pid: number; readonly application: string; readonly blockedBy: number[] }[];
}

/** The one application that a fault holds sessions as. */
async function foreignSessions(database: string) {
  const { sessions } = await ops<Sessions>('db', 'sessions', database);
  return sessions.filter(({ application }) => application.startsWith('shopctl-chaos-'));
}

const cures: readonly (readonly [title: string, words: chaos.Words, cure: () => Promise<unknown>])[] = [
  [
    'a lock: the session that holds it ends',
    ['orders-db', 'lock'],
    async () => {
      const [holder] = await foreignSessions('orders');
      await ops('db', 'terminate', String(holder?.pid), '--reason', 'it blocks orders');
    },
  ],
  [
    'exhausted connections: all sessions of the application end',
    ['stock-db', 'hold-connections', '--connections', '1000'],
    async () => {
      const held = await foreignSessions('stock');
      expect(held.length).toBeGreaterThan(100);
      await ops('db', 'terminate', '--application', held[0]?.application as string);
    },
  ],
  ['a read-only database', ['payments-db', 'read-only'], () => ops('db', 'writable', 'payments-db')],
  ['the disk alarm of the broker', ['rabbitmq', 'disk-alarm'], () => ops('broker', 'free')],
  ['the memory alarm of the broker', ['rabbitmq', 'memory-alarm'], () => ops('broker', 'free')],
  ['a lost binding', ['rabbitmq', 'unbind'], () => ops('broker', 'bind')],
];
const clockCure = [
  ['a wrong clock', ['payments', 'clock', '--offset', '-1h'], () => ops('clock', 'sync')],
] as const satisfies typeof cures;
const diskCure = [
  ['a full disk', ['orders-db', 'fill'], () => ops('db', 'free', 'orders')],
] as const satisfies typeof cures;

/** An order is confirmed, and its event reaches shipping. */
async function expectWhole(): Promise<void> {
  const order = await eventually('an order to be confirmed', { withinMs: CONFIRMED_MS }, async () => {
    const response = await place(platform);
    return response.status === 201 ? response.body : undefined;
  });
  await eventually('its shipment', { withinMs: DRAINED_MS }, async () => {
    const rows = await platform.query('shipping', 'SELECT 1 FROM "Shipments" WHERE "OrderId" = $1', [order?.id]);
    return rows.length === 1;
  });
}

describe('an operator', () => {
  it.each([...cures, ...(libfaketime ? clockCure : []), ...(cannotMount === undefined ? diskCure : [])])(
    'ends %s',
    async (_, words, cure) => {
      const { lease } = await chaos.inject(platform, [...words, '--ttl', '10m']);
      expect(lease).toMatchObject({ status: 'active', witness: { verdict: 'observed' } });
      await cure();
      await expectWhole();
      expect(await chaos.activeFaults(platform)).toMatchObject([
        { id: lease.id, status: 'active', witness: { verdict: 'not_observed' } },
      ]);
      expect(await platform.shopctl('chaos', 'clear', lease.id)).toMatchObject({ code: 0 });
      await chaos.expectClean(platform);
    },
  );

  it('leaves a line for each change, and none for a look or a dry run', async () => {
    const { changes } = await readChanges(platform.project);
    const own = changes.filter(({ kind }) => kind === 'ops');
    expect(own.map(({ target }) => target)).toEqual([
      'orders-db',
      'stock-db',
      'payments-db',
      'rabbitmq',
      'rabbitmq',
      'shipping.order-confirmed',
      'shipping.order-confirmed',
      ...(libfaketime ? ['payments-1'] : []),
      ...(cannotMount === undefined ? ['orders-db'] : []),
    ]);
    expect(own[0]).toMatchObject({ to: 'ended', reason: 'it blocks orders', by: { source: 'command line' } });
    for (const words of [
      ['db', 'writable', 'orders', '--dry-run'],
      ['broker', 'free', '--dry-run'],
      ['broker', 'bind'],
      ['clock', 'sync'],
      ['db', 'free', 'orders'],
    ]) {
      await ops(...words);
    }
    expect((await readChanges(platform.project)).changes).toEqual(changes);
  });
});
