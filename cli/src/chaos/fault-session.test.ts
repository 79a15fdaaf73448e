import { describe, expect, it } from 'vitest';
import { CliError } from '../errors.ts';
import type { NewRecord } from '../experiments/journal-records.ts';
import { heal } from '../experiments/run/providers/heal.ts';
import { createFakeClock } from '../experiments/run/testing/fake-clock.ts';
import { notRunning } from '../platform/control-client.ts';
import type { ChaosClient } from './chaos-client.ts';
import { FaultBook } from './fault-session.ts';
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
function aSupervisor({ clearLeaves = 'healed' as LeaseStatus, isGone = false } = {}) {
  const leases: Lease[] = [];
  const clock = createFakeClock();
  const records: NewRecord[] = [];
  const gone = new CliError({ what: 'platform not running', exitCode: 4 });
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
          ...(clearLeaves === 'remains' && { problem: 'Toxiproxy hangs' }),
        };
      }
      return { healed: [], remains: [] };
    },
  };
  const journal = {
    write: (record: NewRecord) => void records.push(record),
    sync: async () => undefined,
    close: async () => undefined,
    problem: () => undefined,
  };
  return { client, clock, leases, add, records, state, book: new FaultBook(client, journal, clock) };
}

describe('healing', () => {
  it('ends the faults of the run, journals it, and touches no others', async () => {
    const { book, add, leases, records } = aSupervisor();
    add({ isHeld: false, target: 'orders-stock' });
    await book.inject('slow', REQUEST, never);
    expect(book.phase()).toBe('fault');
    expect(await book.heal()).toMatchObject({ remains: [] });
    expect(leases.map(({ status }) => status)).toEqual(['active', 'healed']);
    expect(records).toMatchObject([
      { type: 'fault', state: 'injected' },
      { type: 'fault', state: 'healed' },
    ]);
    expect(book.phase()).toBe('after');
  });

  it('tells what could not be taken back', async () => {
    const { book } = aSupervisor({ clearLeaves: 'remains' });
    await book.inject('slow', REQUEST, never);
    expect((await book.heal()).remains).toEqual(['latency on orders-payments (l0): Toxiproxy hangs']);
  });

  it('does not believe that a fault is gone when nobody can say so', async () => {
    const { book, state } = aSupervisor();
    await book.inject('slow', REQUEST, never);
    state.isGone = true;
    expect((await book.heal()).remains).toEqual([expect.stringContaining('nobody can say whether it is gone')]);
  });

  it('ends also a fault whose injection was given up', async () => {
    const { book, client, leases, add } = aSupervisor();
    const interruption = new AbortController();
    client.inject = async function* () {
      add({ status: 'injecting' });
      interruption.abort(new Error('interrupted'));
      yield await Promise.reject(interruption.signal.reason);
    };
    await expect(book.inject('slow', REQUEST, interruption.signal)).rejects.toThrow('interrupted');
    const healing = book.heal();
    // The supervisor takes it back, because its connection is gone.
    leases[0] = { ...(leases[0] as Lease), status: 'healed' };
    expect(await healing).toMatchObject({ remains: [], healed: [{ id: 'l0' }] });
  });

  it('may be repeated, and heals nothing twice', async () => {
    const { book, records } = aSupervisor();
    await book.inject('slow', REQUEST, never);
    await book.heal();
    expect(await book.heal()).toEqual({ healed: [], remains: [] });
    expect(records.filter((record) => record.type === 'fault' && record.state === 'healed')).toHaveLength(1);
  });

  it('of one step leaves the others', async () => {
    const { book, leases } = aSupervisor();
    await book.inject('first', REQUEST, never);
    await book.inject('second', REQUEST, never);
    await book.heal('first');
    expect(leases.map(({ status }) => status)).toEqual(['healed', 'active']);
    expect(book.phase()).toBe('fault');
  });
});

it('a fault that happens once acts from when it was asked for, though it is told when it is made good', async () => {
  const { book, client, clock, add } = aSupervisor();
  client.inject = async function* () {
    const { since } = add();
    clock.advance(2_000);
    expect(book.phase()).toBe('fault');
    const lease = add({ since, status: 'healed', end: { why: 'it happens once', tookMs: 1_900, evidence: 'back' } });
    yield { type: 'injected', lease };
    yield { type: 'ended', lease };
  };
  clock.advance(1_000);
  expect(book.phase()).toBe('before');
  await book.inject('kill', REQUEST, never);
  await expect.poll(() => book.phase()).toBe('after');
  expect(book.firstInjectedAt).toBe(1_000);
});

it('a fault that was refused has not happened', async () => {
  const { book, client } = aSupervisor();
  client.inject = async function* () {
    yield { type: 'failed', error: { what: 'there is no such edge', exitCode: 2 } };
  };
  await expect(book.inject('slow', REQUEST, never)).rejects.toThrow('there is no such edge');
  expect(await book.heal()).toEqual({ healed: [], remains: [] });
  expect(book.phase()).toBe('before');
});

it('a fault whose injection lost the supervisor may be in effect', async () => {
  const { book, client, state } = aSupervisor();
  client.inject = async function* () {
    state.isGone = true;
    yield await Promise.reject(new CliError({ what: 'lost the connection to the supervisor', exitCode: 4 }));
  };
  await expect(book.inject('slow', REQUEST, never)).rejects.toThrow('lost the connection');
  expect((await book.heal()).remains).toEqual([expect.stringContaining('nobody can say whether it is gone')]);
});

it('a fault that nobody was there to hear of has not happened', async () => {
  const { book, client, state } = aSupervisor();
  client.inject = async function* () {
    state.isGone = true;
    yield await Promise.reject(notRunning());
  };
  await expect(book.inject('slow', REQUEST, never)).rejects.toThrow('platform not running');
  expect(await book.heal()).toEqual({ healed: [], remains: [] });
});

it('a fault that was not in place any more when it was healed was cut short', async () => {
  const { book, state } = aSupervisor();
  const { id } = await book.inject('slow', REQUEST, never);
  state.lost = [id];
  await book.heal();
  expect(book.cutShort()).toEqual(['latency on orders-payments was lost by what held it']);
  expect([book.isLost('slow'), book.isLost('other')]).toEqual([true, false]);
});

it('a fault whose time was over before its step is healed was cut short', async () => {
  const { book, client, leases, add } = aSupervisor();
  client.inject = async function* () {
    const lease = add();
    yield { type: 'injected', lease };
    const ended = {
      ...lease,
      status: 'healed',
      end: { why: 'its time is over', tookMs: 1, evidence: 'gone' },
    } as const;
    leases[0] = ended;
    yield { type: 'ended', lease: ended };
  };
  await book.inject('slow', REQUEST, never);
  await expect.poll(() => book.phase()).toBe('after');
  expect(await heal({ type: 'heal', of: 'slow' }, { faults: book })).toMatchObject({
    outcome: 'unknown',
    observed: expect.stringContaining('its time to live was over'),
  });
});

describe('a fault that ended before the run took it back', () => {
  async function endedWith(why: string) {
    const { book, leases } = aSupervisor();
    await book.inject('slow', REQUEST, never);
    leases[0] = { ...(leases[0] as Lease), status: 'healed', end: { why, tookMs: 1, evidence: 'gone' } };
    await book.heal();
    return book.cutShort();
  }

  it('is told when others ended it', async () => {
    expect(await endedWith('asked for')).toEqual(['latency on orders-payments was ended by others (asked for)']);
    expect(await endedWith('the platform ends')).toHaveLength(1);
  });

  it.each(['its time is over', 'it happens once', 'the experiment is over'])('is as it should be: %s', async (why) => {
    expect(await endedWith(why)).toEqual([]);
  });
});
