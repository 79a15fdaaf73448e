/*
 * Goal: an order that a replica of one release has begun is ended by one of the other release, in both directions. A replica may
 * be killed in each state of an open order. Method: the services' own code of both trees, on one database. `npm run contracts:previous` names
 * the tree of the last release; without it there is nothing to compare with.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { openDatabase, sql } from '@shop/kit/database.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../cli/src/shared/wait-until.ts';
import { orderSaga } from '../../services/orders/src/saga/saga.ts';
import { createDatabase, START_TIMEOUT_MS } from '../support/infrastructure.ts';

const previous = process.env.PREVIOUS_RELEASE_TREE;
if (previous === undefined) console.info('no tree of the last release: "npm run contracts:previous" has one');

const today = join(import.meta.dirname, '../..');
const PROGRAM = join(import.meta.dirname, 'orders-process.ts');
/** A lease of five seconds, three of a steady one, and the scan. */
const ENDED_MS = 30_000;

/** Each state in which an order is open, and how it is reached. */
const begun = [
  { state: 'Started', killedAt: 'order-started:saved', ends: 'Confirmed', by: ['reserve', 'charge'] },
  { state: 'StockReserved', killedAt: 'stock-reserved:saved', ends: 'Confirmed', by: ['charge'] },
  { state: 'PaymentCharged', killedAt: 'payment-charged:saved', ends: 'Confirmed', by: [] },
  {
    state: 'Compensating',
    killedAt: 'step-failed:saved',
    payments: 'unavailable',
    ends: 'Cancelled',
    by: ['refund', 'release'],
  },
] as const;

interface OrderRow {
  readonly state: string;
  readonly open: boolean;
  readonly owner: string;
  readonly events: number;
}

const read = sql(
  'SELECT orders: test',
  'SELECT state, open, owner, (SELECT count(*)::int FROM outbox) AS events FROM orders',
);

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Orders of a release; `lines` grows with what it writes. */
function startOrders(tree: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, [PROGRAM, tree, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let written = '';
  let problem = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    problem += text;
  });
  return {
    child,
    lines: () => written.split('\n').filter((line) => line !== ''),
    problem: () => problem,
    [Symbol.asyncDispose]: () => end(child),
  };
}

async function openOrders(url: string) {
  const logger = createLogger({ service: 'orders', instance: 'test', level: 'silent' });
  const database = openDatabase({ url, poolSize: 1, applicationName: 'test', logger });
  return {
    rows: async () => (await database.query<OrderRow>(read, [])).rows,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

it('each state of an open order is one of those in which a replica is killed', () => {
  const open = Object.keys(orderSaga).filter((state) => !['Confirmed', 'Cancelled'].includes(state));
  expect(begun.map(({ state }) => state)).toEqual(open);
});

describe.skipIf(previous === undefined)('beside the last release', { timeout: 2 * START_TIMEOUT_MS }, () => {
  const released = previous as string;

  // They mostly wait for the end of a lease.
  it.concurrent.each(
    begun.flatMap((one) => [
      { ...one, title: `${one.state}: begun by the last release, ended by this one`, first: released, second: today },
      { ...one, title: `${one.state}: begun by this release, ended by the last one`, first: today, second: released },
    ]),
  )('$title', async ({ first, second, state, killedAt, ends, by, ...more }) => {
    const { url, operatorUrl } = await createDatabase('orders');
    await using orders = await openOrders(operatorUrl);
    const payments = 'payments' in more ? more.payments : 'available';

    await using beginner = startOrders(first, url, payments, killedAt);
    await once(beginner.child, 'exit');
    expect(beginner.child.signalCode, beginner.problem()).toBe('SIGKILL');
    expect(await orders.rows()).toMatchObject([{ state, events: 0 }]);

    await using other = startOrders(second, url, 'available');
    const ended = await waitUntil('the order is closed', ENDED_MS, async () => {
      const [row] = await orders.rows();
      return row?.open === false ? row : undefined;
    });
    const [owner, ...effects] = other.lines().map((line) => line.split(' '));
    expect(ended, other.problem()).toEqual({
      state: ends,
      open: false,
      owner: owner?.[1],
      events: ends === 'Confirmed' ? 1 : 0,
    });
    expect(effects.map(([name]) => name)).toEqual(by);
  });
});
