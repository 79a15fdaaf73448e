/*
 * Goal: faults of the broker, of a disk, of clocks and of starts are measurably in effect, do what they say and nothing
 * else. They end with their holder, and are reverted after the supervisor was killed.
 * Method: a real platform and the built `shopctl`. The file starts it with `libfaketimeEnv`, and reverts what a test that failed
 * has left. What this machine cannot have (no root, no libfaketime) must be refused with how to get it.
 */
import type { ChildProcess } from 'node:child_process';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AuditReport } from '../../../cli/src/audit/audit.ts';
import { createToxiproxyClient } from '../../../cli/src/chaos/toxiproxy-client.ts';
import { mountObstacle, mountsBelow } from '../../../cli/src/process/quota-filesystem.ts';
import { choosePlace } from '../../../cli/src/providers/postgres/place.ts';
import type { TestPlatform } from '../../support/platform.ts';
import { activeFaults, expectClean, hold, inject, type Words } from '../support/chaos.ts';
import { look, place } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { findImbalances, untilDrained } from '../support/ledger.ts';
import { libfaketime } from '../support/libfaketime.ts';

const REVERTED_MS = 5_000;
const STARTED_MS = 20_000;
const QUEUE = 'shipping.order-confirmed';

const cannotMount = await mountObstacle();

export function faultsOfComponents(platformOf: () => TestPlatform): void {
  let platform: TestPlatform;
  const children: ChildProcess[] = [];

  beforeAll(() => {
    platform = platformOf();
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  async function clear(id: string): Promise<void> {
    expect(await platform.shopctl('chaos', 'clear', id)).toMatchObject({ code: 0 });
  }

  async function cleanInvariant(): Promise<AuditReport['invariants'][number] | undefined> {
    const { stdout } = await platform.shopctl('audit', '--json', '--settle', '0');
    return (JSON.parse(stdout) as AuditReport).invariants.find(({ id }) => id === 'I14');
  }

  // An event that is on its way when its queue is unbound or purged is lost for good, as those faults say.
  beforeEach(() => untilDrained(platform, STARTED_MS));

  async function pendingEvents(): Promise<number> {
    const rows = await platform.query<{ count: number }>(
      'orders',
      'SELECT count(*)::int AS count FROM outbox WHERE published_at IS NULL',
    );
    return rows[0]?.count ?? 0;
  }

  describe('a full resource of the broker', () => {
    it.each(['disk-alarm', 'memory-alarm'])(
      '%s: orders are confirmed, their events wait until it ends',
      async (fault) => {
        const { code, lease } = await inject(platform, ['rabbitmq', fault]);
        expect(lease).toMatchObject({ status: 'active', witness: { verdict: 'observed' } });
        expect(code).toBe(0);
        expect(await place(platform)).toMatchObject({ status: 201 });
        expect(await pendingEvents()).toBeGreaterThan(0);
        await clear(lease.id);
        await untilDrained(platform, STARTED_MS);
        await expectClean(platform);
      },
    );
  });

  describe('the audit', () => {
    it('names a fault while it acts (I14), and what it has left on the platform', async () => {
      const { lease } = await inject(platform, ['orders-stock', 'down']);
      const { verdict, violations } = (await cleanInvariant()) ?? {};
      expect(verdict).toBe('fail');
      expect(violations?.map(({ detail }) => detail)).toEqual([
        `down on orders-stock (${lease.id}) was not reverted`,
        'the proxy orders-stock is disabled',
      ]);
      await clear(lease.id);
      expect(await cleanInvariant()).toMatchObject({ verdict: 'pass' });
      await expectClean(platform);
    });
  });

  describe('a queue of the broker', () => {
    it('is unbound and bound again: what is published reaches no queue meanwhile', async () => {
      const { code, lease } = await inject(platform, ['rabbitmq', 'unbind']);
      expect(lease.witness).toMatchObject({ verdict: 'observed', evidence: expect.stringContaining('312 NO_ROUTE') });
      expect(code).toBe(0);
      await clear(lease.id);
      await expectClean(platform);
      await untilDrained(platform, STARTED_MS);
    });

    it('is purged once: the number of lost messages is reported, and redrive brings them back', async () => {
      const { lease: stopped } = await inject(platform, ['shipping', 'stop']);
      const orders = await Promise.all([place(platform), place(platform)]);
      await eventually(
        'the events to be published',
        { withinMs: REVERTED_MS },
        async () => (await pendingEvents()) === 0,
      );
      const { code, lease } = await inject(platform, ['rabbitmq', 'purge', '--queue', QUEUE]);
      expect(lease).toMatchObject({
        status: 'reverted',
        witness: { verdict: 'observed', evidence: expect.stringContaining('2 message(s)') },
        end: { evidence: expect.stringContaining('are lost') },
      });
      expect(code).toBe(0);
      await clear(stopped.id);
      for (const { body } of orders) {
        const { id } = body as { id: string };
        expect(await platform.shopctl('outbox', 'redrive', '--order', id)).toMatchObject({ code: 0 });
      }
      await untilDrained(platform, STARTED_MS);
      await expectClean(platform);
    });
  });

  describe('a delayed start', () => {
    it('keeps a service unavailable for so long, and not longer than the fault', async () => {
      const { lease } = await inject(platform, ['payments', 'slow-start', '--delay', '60s']);
      expect(lease).toMatchObject({ status: 'active', witness: { verdict: 'observed' } });
      expect((await place(platform)).body).toMatchObject({ status: 'Cancelled', reason: 'payment unavailable' });
      expect(await platform.instance('payments-1')).toMatchObject({ status: 'starting' });
      await clear(lease.id);
      await expectClean(platform);
    });

    it('comes after its delay, while the fault lasts', async () => {
      const { lease } = await inject(platform, ['catalog-1', 'slow-start', '--delay', '1s']);
      expect(lease).toMatchObject({ witness: { verdict: 'observed' } });
      await eventually('the catalog to be ready', { withinMs: STARTED_MS }, async () => {
        return (await platform.instance('catalog-1')).status === 'ready';
      });
      await clear(lease.id);
      await expectClean(platform);
    });
  });

  describe.runIf(libfaketime)('a clock that is wrong', () => {
    it.each(['-1h', '90m'])('by %s: seen in responses, orders are confirmed, and it is right again', async (offset) => {
      const { code, lease } = await inject(platform, ['shipping', 'clock', '--offset', offset]);
      expect(lease).toMatchObject({ status: 'active', witness: { verdict: 'observed' } });
      expect(code).toBe(0);
      expect(await place(platform)).toMatchObject({ status: 201 });
      await untilDrained(platform, STARTED_MS);
      await clear(lease.id);
      await expectClean(platform);
    });
  });

  it.runIf(!libfaketime)('a clock cannot be shifted without libfaketime, and how to get it is said', async () => {
    const { code, stderr } = await platform.shopctl('chaos', 'inject', 'orders', 'clock', '--offset', '-1h');
    expect(stderr).toContain('setup --with libfaketime');
    expect(code).toBe(3);
  });

  describe.runIf(cannotMount === undefined)('a disk that is full', () => {
    it('refuses new orders with 503 and goes on with what is there; space comes back without a restart', async () => {
      const { body } = await place(platform);
      await untilDrained(platform, STARTED_MS);
      const { code, lease } = await inject(platform, ['orders-db', 'fill']);
      expect(lease).toMatchObject({ status: 'active', witness: { verdict: 'observed' } });
      expect(code).toBe(0);
      const { base } = await choosePlace(platform.project.stateDir);
      expect(await mountsBelow(base)).toHaveLength(1);
      for (const _ of [1, 2, 3]) {
        expect(await place(platform)).toMatchObject({ status: 503, body: { traceId: expect.any(String) } });
      }
      expect(await look(platform, (body as { id: string }).id)).toMatchObject({ status: 200 });
      await clear(lease.id);
      expect(await place(platform)).toMatchObject({ status: 201 });
      expect(await mountsBelow(base)).toEqual([]);
      await expectClean(platform);
    });
  });

  it.runIf(cannotMount !== undefined)('a disk cannot be filled without root, and what to do is said', async () => {
    const { code, stderr } = await platform.shopctl('chaos', 'inject', 'orders-db', 'fill');
    expect(stderr).toContain('the fill fault is not available here');
    expect(code).toBe(3);
  });

  describe('Toxiproxy is killed while a toxic is on', () => {
    it('is started again with its proxies and the toxic', async () => {
      const { lease } = await inject(platform, ['orders-payments', 'latency', '--latency', '300ms']);
      const { lease: killed } = await inject(platform, ['toxiproxy', 'kill']);
      expect(killed).toMatchObject({ status: 'reverted', witness: { verdict: 'observed' } });
      const client = createToxiproxyClient((await platform.state()).toxiproxyUrl as string);
      await eventually('the toxic to be back', { withinMs: REVERTED_MS }, async () => {
        return (await client.proxy('orders-payments')).toxics.length === 1;
      });
      expect(await client.proxies()).toHaveLength((await platform.state()).edges.length);
      await clear(lease.id);
      await expectClean(platform);
    });
  });

  describe('PostgreSQL', () => {
    it('is restarted: seen, and every service has its connections again', async () => {
      const { code, lease } = await inject(platform, ['postgres', 'restart']);
      expect(lease).toMatchObject({ status: 'reverted', witness: { verdict: 'observed' } });
      expect(code).toBe(0);
      await expectClean(platform);
    });
  });

  const lasting: readonly Words[] = [
    // Before the alarm, under which no canary can see it.
    ['rabbitmq', 'unbind'],
    ['rabbitmq', 'disk-alarm'],
    ['payments', 'slow-start', '--delay', '60s'],
    ...(cannotMount === undefined ? [['orders-db', 'fill'] as const] : []),
  ];

  describe('the command that holds a fault', () => {
    const held: readonly Words[] = [
      ...lasting,
      ['rabbitmq', 'memory-alarm'],
      ['telemetry', 'telemetry-outage'],
      ...(libfaketime ? [['shipping', 'clock', '--offset', '1h'] as const] : []),
    ];

    it.each(held)('is killed while %s %s is in effect: reverted within 5 s', async (...words) => {
      const { child, lease } = await hold(platform, words as unknown as Words);
      children.push(child);
      expect(lease).toMatchObject({ isHeld: true, witness: { verdict: 'observed' } });
      child.kill('SIGKILL');
      await eventually('it to be reverted', { withinMs: REVERTED_MS, seen: () => activeFaults(platform) }, async () => {
        return (await activeFaults(platform)).length === 0;
      });
      await expectClean(platform);
    });

    it('was killed under each kind of fault, and verify holds', async () => {
      const { code, stdout } = await platform.shopctl('verify');
      expect(code, stdout).toBe(0);
    });
  });

  describe('the supervisor is killed', () => {
    it('what is kept in data stays after clear --all and is reverted by up', { timeout: 120_000 }, async () => {
      for (const words of lasting) expect(await inject(platform, words)).toMatchObject({ code: 0 });
      process.kill((await platform.state()).supervisor.pid, 'SIGKILL');
      const { code, stdout } = await platform.shopctl('chaos', 'clear', '--all');
      expect(stdout).toContain('undo failed');
      expect(stdout).toContain('rabbitmq unbind: RabbitMQ is not running');
      expect(code).toBe(6);
      expect(await platform.shopctl('up', '--no-build')).toMatchObject({ code: 0 });
      await eventually('all to be reverted', { withinMs: STARTED_MS, seen: () => activeFaults(platform) }, async () => {
        return (await activeFaults(platform)).length === 0;
      });
      await expectClean(platform);
      await untilDrained(platform, STARTED_MS);
      expect(await findImbalances(platform)).toEqual([]);
    });
  });

  describe('before anything happens', () => {
    it.each([
      [['rabbitmq', 'disk-alrm'], 'did you mean \\"disk-alarm\\"'],
      [['orders', 'disk-alarm'], 'its targets are rabbitmq'],
      [['rabbitmq', 'unbind', '--queue', 'shipping'], 'queue must be equal to one of'],
      [['rabbitmq', 'clock', '--offset', '1h'], 'clock cannot be injected into'],
      [['orders', 'clock', '--offset', '2s'], 'is too small'],
      [['orders', 'slow-start'], 'delay is required'],
      [['catalog-db', 'fill'], 'adds no rows'],
    ])('%j is refused', async (words, why) => {
      const { code, stderr } = await platform.shopctl('chaos', 'inject', ...words, '--json');
      expect(stderr).toContain(why);
      expect(code).toBe(2);
      expect(await activeFaults(platform)).toEqual([]);
    });
  });
}
