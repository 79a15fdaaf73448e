/*
 * Goal: whichever dependency is stopped or frozen, each client has its documented response within 10 s. When the
 * dependency is back so is the shop, with nothing lost, doubled or left half-done.
 * Method: a real platform. Stopped: `shopctl stop`, connections are refused or closed. Frozen: SIGSTOP, connections
 * stay and nothing responds, which only a time limit can detect. Toxiproxy is frozen by a fault: one that hangs without a
 * fault is restarted by the supervisor within some seconds. Orders are placed meanwhile, several concurrently, so that also
 * the breakers' responses are seen.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { serviceNames } from '../../cli/src/topology/services.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { inject, recoverFrom } from './support/chaos.ts';
import { type ClientResponse, look, place, send } from './support/client.ts';
import { findByKey } from './support/crash.ts';
import { eventually } from './support/eventually.ts';
import { freeze } from './support/freeze.ts';
import { findImbalances, readLedger, untilDrained } from './support/ledger.ts';

const RESPONSE_MS = 10_000;
/** Until a new order is confirmed: the dependency's own start, the breaker's 5 s, and reconnections. */
const BACK_MS = 20_000;
/** Until every compensation has landed: their back-off ends at 5 s. */
const DRAINED_MS = 30_000;

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform({ project: 'e2e-outage', env: { SHOPCTL_FAILPOINTS: '1' } });
  await place(platform);
});
afterAll(() => platform?.stop());
afterEach(({ task }) => recoverFrom(task, platform));

/** What a client may receive, as `status code-or-reason`. */
const confirmed = ['201 Confirmed'];
const cancelled = (reason: string) => [`200 ${reason}`];
const problem = (...codes: string[]) => codes;

function outcomeOf({ status, body }: ClientResponse): string {
  return `${status} ${body?.code ?? body?.reason ?? body?.status}`;
}

interface Dependency {
  readonly name: string;
  readonly stopped: readonly string[];
  readonly frozen: readonly string[];
  /** Services that are live and not ready while it is stopped, and what they name. */
  readonly unready?: Readonly<Record<string, string>>;
  /** Events wait in the outbox meanwhile. */
  readonly holdsEvents?: boolean;
}

const dependencies: readonly Dependency[] = [
  { name: 'catalog', stopped: problem('503 catalog_unavailable'), frozen: problem('503 catalog_unavailable') },
  { name: 'stock', stopped: cancelled('stock unavailable'), frozen: cancelled('stock unavailable') },
  { name: 'payments', stopped: cancelled('payment unavailable'), frozen: cancelled('payment unavailable') },
  { name: 'shipping', stopped: confirmed, frozen: confirmed },
  {
    name: 'orders',
    // A proxy stands between, so the gateway cannot distinguish a refused connection from a broken one until its
    // breaker opens.
    stopped: problem('503 orders_unreachable', '504 orders_timeout'),
    frozen: problem('504 orders_timeout', '503 orders_unreachable'),
    unready: { gateway: 'orders' },
  },
  {
    name: 'postgres',
    stopped: problem('503 catalog_unavailable', '503 database_unavailable'),
    frozen: problem('503 catalog_unavailable', '503 database_unavailable'),
    unready: { orders: 'database', catalog: 'database', stock: 'database', payments: 'database', shipping: 'database' },
  },
  { name: 'rabbitmq', stopped: confirmed, frozen: confirmed, unready: { shipping: 'broker' }, holdsEvents: true },
  {
    name: 'toxiproxy',
    stopped: problem('503 orders_unreachable'),
    frozen: problem('504 orders_timeout', '503 orders_unreachable'),
    unready: { gateway: 'orders', orders: 'database', shipping: 'broker' },
  },
];

/** Two concurrently, then six more: some meet the dependency, the rest the breaker. */
async function placeMeanwhile(): Promise<readonly ClientResponse[]> {
  const first = await Promise.all([place(platform), place(platform)]);
  return [...first, ...(await Promise.all(Array.from({ length: 6 }, () => place(platform))))];
}

function expectResponses(responses: readonly ClientResponse[], expected: readonly string[]): void {
  for (const response of responses) {
    expect(response.tookMs, outcomeOf(response)).toBeLessThan(RESPONSE_MS);
    expect(expected).toContain(outcomeOf(response));
    expect(response.traceId).toMatch(/^[0-9a-f]{32}$/);
    if (response.status >= 400) expect(response.body?.traceId).toBe(response.traceId);
    if (response.status === 503) expect(response.headers['retry-after']).toMatch(/^\d+$/);
  }
}

async function expectBack(responses: readonly ClientResponse[]): Promise<void> {
  await eventually(
    'a new order to be confirmed',
    { withinMs: BACK_MS },
    async () => (await place(platform)).status === 201,
  );
  await untilDrained(platform, DRAINED_MS);
  expect(await findImbalances(platform)).toEqual([]);
  for (const { body } of responses.filter(({ status }) => status < 300)) {
    // The response to the client stays true.
    expect(await look(platform, body?.id as string)).toMatchObject({ status: 200, body: { status: body?.status } });
  }
}

/** Resolves when these many events have waited in the outbox for longer than three polls of the relay. */
async function untilEventsWait(count: number): Promise<void> {
  await eventually(`${count} events to have waited for 1.5 s`, { withinMs: 10_000 }, async () => {
    const [row] = await platform.query<{ count: number }>(
      'orders',
      `SELECT count(*)::int AS count FROM outbox WHERE published_at IS NULL AND created_at < now() - interval '1.5 s'`,
    );
    return row?.count === count;
  });
}

/** Base URL of a service's health listener. */
async function healthUrl(service: string): Promise<string> {
  const { ports } = await platform.instance(`${service}-1`);
  return `http://127.0.0.1:${ports.health ?? ports.main}/health`;
}

async function expectUnready(unready: Readonly<Record<string, string>>): Promise<void> {
  for (const [service, dependency] of Object.entries(unready)) {
    const url = await healthUrl(service);
    const named = await eventually(`${service} to be not ready for ${dependency}`, { withinMs: 5_000 }, async () => {
      const { status, body } = await send(`${url}/ready`);
      const down = (body?.dependencies as { name: string; status: string }[] | undefined)?.filter(
        (one) => one.status === 'down',
      );
      return status === 503 && down?.some(({ name }) => name === dependency) && down;
    });
    expect(JSON.stringify(named)).not.toMatch(/127\.0\.0\.1|postgres:\/\/|amqp:\/\//);
    expect(await send(`${url}/live`)).toMatchObject({ status: 200 });
  }
}

const others: readonly string[] = serviceNames;

/** Only the dependency itself may have ended. */
async function expectNoRestarts(before: ReadonlyMap<string, number>, except: string): Promise<void> {
  const { instances } = await platform.state();
  for (const { name, service, restarts } of instances.filter((instance) => others.includes(instance.service))) {
    if (service !== except && restarts !== before.get(name)) {
      expect.fail(`${name} has ended unexpectedly:\n${await platform.logTail(name)}`);
    }
  }
}

/** Frozen until the disposal, whatever the supervisor does about hung processes. */
async function freezeUntilDisposed(name: string): Promise<AsyncDisposable> {
  if (name !== 'toxiproxy') {
    const { process: victim } = await platform.instance(others.includes(name) ? `${name}-1` : name);
    return freeze(victim?.pid as number);
  }
  const { lease } = await inject(platform, [name, 'pause', '--ttl', '2m']);
  expect(lease.status).toBe('active');
  return {
    async [Symbol.asyncDispose]() {
      // Fails where the fault had ended before.
      expect(await platform.shopctl('chaos', 'clear', lease.id)).toMatchObject({ code: 0 });
    },
  };
}

async function restartsNow(): Promise<ReadonlyMap<string, number>> {
  return new Map((await platform.state()).instances.map(({ name, restarts }) => [name, restarts]));
}

describe.each(dependencies)(
  '$name is down',
  { timeout: 120_000 },
  ({ name, stopped, frozen, unready = {}, holdsEvents = false }) => {
    it(`stopped: every response is one of ${stopped.join(', ')}`, async () => {
      const restarts = await restartsNow();
      expect(await platform.shopctl('stop', name)).toMatchObject({ code: 0 });
      let responses: readonly ClientResponse[];
      try {
        responses = await placeMeanwhile();
        await expectUnready(unready);
        if (holdsEvents) await untilEventsWait(responses.length);
      } finally {
        expect(await platform.shopctl('start', name)).toMatchObject({ code: 0 });
      }
      expectResponses(responses, stopped);
      await expectBack(responses);
      await expectNoRestarts(restarts, name);
    });

    it(`frozen: every response is one of ${frozen.join(', ')}`, async () => {
      const restarts = await restartsNow();
      let responses: readonly ClientResponse[];
      {
        await using _frozen = await freezeUntilDisposed(name);
        responses = await placeMeanwhile();
        if (holdsEvents) await untilEventsWait(responses.length);
      }
      expectResponses(responses, frozen);
      await expectBack(responses);
      await expectNoRestarts(restarts, name);
    });
  },
);

describe('an order with a key while PostgreSQL is stopped', () => {
  it('is refused with database_unavailable, and taken once when it is back', { timeout: 60_000 }, async () => {
    const key = randomUUID();
    expect(await platform.shopctl('stop', 'postgres')).toMatchObject({ code: 0 });
    let response: ClientResponse;
    try {
      response = await place(platform, { key });
    } finally {
      expect(await platform.shopctl('start', 'postgres')).toMatchObject({ code: 0 });
    }
    expectResponses([response], ['503 database_unavailable']);
    expect(await findByKey(platform, key)).toBeUndefined();
    const again = await eventually('the same request to be taken', { withinMs: BACK_MS }, async () => {
      const repeated = await place(platform, { key });
      return repeated.status === 201 && repeated;
    });
    expect((await readLedger(platform, again.body?.id as string)).order.status).toBe('Confirmed');
    await expectBack([again]);
  });
});

describe('two instances of orders, one frozen in mid-saga', () => {
  beforeAll(async () => {
    expect(await platform.shopctl('up', '--no-build', '--replicas', 'orders=2')).toMatchObject({ code: 0 });
  });

  it('the other ends the saga; the one that wakes up changes nothing', { timeout: 90_000 }, async () => {
    const key = randomUUID();
    await platform.arm('orders.stock-reserved:saved', 'delay 3000');
    const responding = place(platform, { key });
    const owner = await eventually('the saga to stand at stock-reserved:saved', { withinMs: 5_000 }, async () => {
      const rows = await platform.query<{ instance: string }>(
        'orders',
        `SELECT w.instance FROM orders o JOIN saga_owners w ON w.id = o.owner
         WHERE o.idempotency_key = $1 AND o.state = 'StockReserved'`,
        [key],
      );
      return rows[0]?.instance;
    });
    const { process: victim } = await platform.instance(owner);
    const orderId = (await findByKey(platform, key)) as string;
    const seen = () => readLedger(platform, orderId);
    {
      await using _frozen = await freeze(victim?.pid as number);
      await eventually('the other instance to confirm the order', { withinMs: 15_000, seen }, async () => {
        return (await seen()).order.status === 'Confirmed';
      });
      const response = await responding;
      expectResponses([response], ['504 orders_timeout']);
    }
    await eventually('the frozen one to find that its saga is another one’s', { withinMs: 10_000 }, async () =>
      (await platform.logs('orders')).some(
        ({ instance, order_id, msg }) => instance === owner && order_id === orderId && msg.includes('another instance'),
      ),
    );
    await expectBack([]);
    expect(await seen()).toMatchObject({
      order: { status: 'Confirmed', state: 'Confirmed' },
      outbox: [{}],
      payments: [{ state: 'accepted' }],
      reservations: [{ state: 'reserved' }],
      shipments: [{}],
    });
    expect(await place(platform, { key })).toMatchObject({ status: 201, body: { id: orderId } });
  });
});
