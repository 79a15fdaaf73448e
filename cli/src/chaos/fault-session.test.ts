import { describe, expect, it } from 'vitest';
import { CliError } from '../errors.ts';
import { notRunning } from '../platform/control-client.ts';
import { createFakeClock } from '../shared/testing/fake-clock.ts';
import type { ChaosClient } from './chaos-client.ts';
import { type FaultChange, FaultSession } from './fault-session.ts';
import type { InjectRequest, Lease, LeaseStatus } from './lease.ts';

const REQUEST: InjectRequest = {
  fault: 'latency',
  target: 'orders-payments',
  parameters: {},
  ttlMs: 60_000,
  hold: true,
};
const never = new AbortController().signal;

/** A supervisor whose leases are a list. */
function aSupervisor({ clearLeaves = 'reverted' as LeaseStatus, isGone = false } = {}) {
  const leases: Lease[] = [];
  const clock = createFakeClock();
  const changes: FaultChange[] = [];
  const troubles: string[] = [];
  const gone = new CliError({ code: 'platform_not_running', what: 'platform not running' });
  const add = (more: Partial<Lease> = {}): Lease => {
    const lease: Lease = {
      id: `l${leases.length}`,
      fault: 'latency',
      kind: 'toxic',
      target: 'orders-payments',
      parameters: {},
      status: 'active',
      since: clock.date().toISOString(),
      ttlMs: 60_000,
      expiresAt: '',
      isHeld: true,
      ...more,
    };
    leases.push(lease);
    return lease;
  };
  const state = { isGone, lost: [] as string[] };
  const client: ChaosClient = {
    async list() {
      if (state.isGone) throw gone;
      return leases;
    },
    check: async (planned) => planned.map(() => null),
    lost: async () => state.lost,
    async *inject() {
      yield { type: 'injected', lease: add() };
      await new Promise(() => undefined);
    },
    async clear(ids) {
      if (state.isGone) throw gone;
      for (const [index, lease] of leases.entries()) {
        if (!ids?.includes(lease.id)) continue;
        leases[index] = {
          ...lease,
          status: clearLeaves,
          ...(clearLeaves === 'undo_failed' && { problem: 'Toxiproxy hangs' }),
        };
      }
      return { reverted: [], notReverted: [] };
    },
  };
  const listener = {
    onChange: (change: FaultChange) => void changes.push(change),
    onTrouble: (event: string) => void troubles.push(event),
  };
  return { client, clock, leases, add, changes, troubles, state, session: new FaultSession(client, listener, clock) };
}

describe('reverting', () => {
  it('ends the faults of the run, says so, and touches no others', async () => {
    const { session, add, leases, changes } = aSupervisor();
    add({ isHeld: false, target: 'orders-stock' });
    await session.inject('slow', REQUEST, never);
    expect(session.phase()).toBe('fault');
    expect(await session.revert()).toMatchObject({ notReverted: [] });
    expect(leases.map(({ status }) => status)).toEqual(['active', 'reverted']);
    expect(changes).toMatchObject([
      { step: 'slow', state: 'injected' },
      { step: 'slow', state: 'reverted' },
    ]);
    expect(session.phase()).toBe('after');
  });

  it('reports a fault that could not be reverted', async () => {
    const { session } = aSupervisor({ clearLeaves: 'undo_failed' });
    await session.inject('slow', REQUEST, never);
    expect((await session.revert()).notReverted).toEqual(['latency on orders-payments (l0): Toxiproxy hangs']);
  });

  it('reports a fault as not reverted when it is unknown whether it is gone', async () => {
    const { session, state, troubles } = aSupervisor();
    await session.inject('slow', REQUEST, never);
    state.isGone = true;
    expect((await session.revert()).notReverted).toEqual([expect.stringContaining('unknown whether it is gone')]);
    expect(troubles).toEqual(['revert.failed']);
  });

  it('ends also a fault whose injection was given up', async () => {
    const { session, client, leases, add } = aSupervisor();
    const interruption = new AbortController();
    client.inject = async function* () {
      add({ status: 'injecting' });
      interruption.abort(new Error('interrupted'));
      yield await Promise.reject(interruption.signal.reason);
    };
    await expect(session.inject('slow', REQUEST, interruption.signal)).rejects.toThrow('interrupted');
    const reverting = session.revert();
    // The supervisor takes it back, because its connection is gone.
    leases[0] = { ...(leases[0] as Lease), status: 'reverted' };
    expect(await reverting).toMatchObject({ notReverted: [], reverted: [{ id: 'l0' }] });
  });

  it('may be repeated, and reverts nothing twice', async () => {
    const { session, changes } = aSupervisor();
    await session.inject('slow', REQUEST, never);
    await session.revert();
    expect(await session.revert()).toEqual({ reverted: [], notReverted: [] });
    expect(changes.filter(({ state }) => state === 'reverted')).toHaveLength(1);
  });

  it('of one step leaves the others', async () => {
    const { session, leases } = aSupervisor();
    await session.inject('first', REQUEST, never);
    await session.inject('second', REQUEST, never);
    await session.revert('first');
    expect(leases.map(({ status }) => status)).toEqual(['reverted', 'active']);
    expect(session.phase()).toBe('fault');
  });
});

it('a fault that happens once acts from when it was asked for, though it is reported when it is reverted', async () => {
  const { session, client, clock, add } = aSupervisor();
  client.inject = async function* () {
    const { since } = add();
    clock.advance(2_000);
    expect(session.phase()).toBe('fault');
    const lease = add({ since, status: 'reverted', end: { why: 'it happens once', tookMs: 1_900, evidence: 'back' } });
    yield { type: 'injected', lease };
    yield { type: 'ended', lease };
  };
  clock.advance(1_000);
  expect(session.phase()).toBe('before');
  await session.inject('kill', REQUEST, never);
  await expect.poll(() => session.phase()).toBe('after');
  expect(session.firstInjectedAt).toBe(1_000);
});

it('a fault that was refused has not happened', async () => {
  const { session, client } = aSupervisor();
  client.inject = async function* () {
    yield { type: 'failed', error: { code: 'unknown_fault_target', what: 'there is no such edge', exitCode: 2 } };
  };
  await expect(session.inject('slow', REQUEST, never)).rejects.toThrow('there is no such edge');
  expect(await session.revert()).toEqual({ reverted: [], notReverted: [] });
  expect(session.phase()).toBe('before');
});

it('a fault whose injection lost the supervisor may be in effect', async () => {
  const { session, client, state } = aSupervisor();
  client.inject = async function* () {
    state.isGone = true;
    yield await Promise.reject(
      new CliError({ code: 'supervisor_lost', what: 'lost the connection to the supervisor' }),
    );
  };
  await expect(session.inject('slow', REQUEST, never)).rejects.toThrow('lost the connection');
  expect((await session.revert()).notReverted).toEqual([expect.stringContaining('unknown whether it is gone')]);
});

it('a fault without a holder to report it to has not happened', async () => {
  const { session, client, state } = aSupervisor();
  client.inject = async function* () {
    state.isGone = true;
    yield await Promise.reject(notRunning());
  };
  await expect(session.inject('slow', REQUEST, never)).rejects.toThrow('platform not running');
  expect(await session.revert()).toEqual({ reverted: [], notReverted: [] });
});

it('a fault that was not in place any more when it was reverted was cut short', async () => {
  const { session, state } = aSupervisor();
  const { id } = await session.inject('slow', REQUEST, never);
  state.lost = [id];
  await session.revert();
  expect(session.cutShort()).toEqual(['latency on orders-payments was lost by what held it']);
  expect([session.isLost('slow'), session.isLost('other')]).toEqual([true, false]);
});

it('a fault whose time was over before its step is reverted was cut short', async () => {
  const { session, client, leases, add } = aSupervisor();
  client.inject = async function* () {
    const lease = add();
    yield { type: 'injected', lease };
    const ended = {
      ...lease,
      status: 'reverted',
      end: { why: 'its time to live expired', tookMs: 1, evidence: 'gone' },
    } as const;
    leases[0] = ended;
    yield { type: 'ended', lease: ended };
  };
  await session.inject('slow', REQUEST, never);
  await expect.poll(() => session.phase()).toBe('after');
  expect(session.expiredTtl('slow')).toContain('its time to live expired');
});

describe('a fault that ended before the run took it back', () => {
  async function endedWith(why: string) {
    const { session, leases } = aSupervisor();
    await session.inject('slow', REQUEST, never);
    leases[0] = { ...(leases[0] as Lease), status: 'reverted', end: { why, tookMs: 1, evidence: 'gone' } };
    await session.revert();
    return session.cutShort();
  }

  it('is reported when others ended it', async () => {
    expect(await endedWith('asked for')).toEqual(['latency on orders-payments was ended by others (asked for)']);
    expect(await endedWith('the platform ends')).toHaveLength(1);
  });

  it.each(['its time to live expired', 'it happens once', 'the experiment is over'])(
    'is as it should be: %s',
    async (why) => {
      expect(await endedWith(why)).toEqual([]);
    },
  );
});
