import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReplicaPicker, type Replica, type ReplicaPicker } from './replica-picker.ts';

/** Responds to its probes, refuses them, or is frozen. */
class FakeReplica implements Replica {
  readonly address: string;
  probes: 'responds' | 'refused' | 'silent' = 'responds';
  probed = 0;
  isDraining = false;

  constructor(address: string) {
    this.address = address;
  }

  async check(signal: AbortSignal): Promise<void> {
    this.probed += 1;
    if (this.probes === 'refused') throw new Error('ECONNREFUSED');
    if (this.probes === 'silent') {
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
    }
  }
}

const opened: Disposable[] = [];
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const picker of opened.splice(0)) picker[Symbol.dispose]();
  vi.useRealTimers();
});

function some(...addresses: string[]) {
  const replicas = addresses.map((address) => new FakeReplica(address));
  const reported: string[] = [];
  const picker: ReplicaPicker<FakeReplica> = createReplicaPicker(
    replicas,
    { failures: 5, trialEveryMs: 5_000 },
    {
      ejected: ({ address }, cause) => void reported.push(`${address} ejected: ${cause}`),
      returned: ({ address }) => void reported.push(`${address} returned`),
    },
  );
  opened.push(picker);
  /** How often each is picked in so many calls, all of which get a response. */
  const picked = (calls: number) => {
    const counts: Record<string, number> = {};
    for (let call = 0; call < calls; call += 1) {
      const { address } = picker.pick(new Set());
      counts[address] = (counts[address] ?? 0) + 1;
    }
    return counts;
  };
  return { replicas: replicas as [FakeReplica, FakeReplica, ...FakeReplica[]], picker, reported, picked };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('a replica', () => {
  it('is picked in turn', () => {
    expect(some('a', 'b', 'c').picked(9)).toEqual({ a: 3, b: 3, c: 3 });
  });

  it('that was tried is picked again only where there is no other', () => {
    const { replicas, picker } = some('a', 'b');
    const [a, b] = replicas;
    for (let call = 0; call < 4; call += 1) expect(picker.pick(new Set([a]))).toBe(b);
    expect([a, b]).toContain(picker.pick(new Set([a, b])));
  });

  it('that refuses a connection is ejected immediately, and returns with its first probe', async () => {
    const { replicas, picker, reported, picked } = some('a', 'b');
    const [a] = replicas;
    a.probes = 'refused';
    picker.refused(a);
    expect(picked(4)).toEqual({ b: 4 });
    await pass(10_000);
    expect(picked(4)).toEqual({ b: 4 });
    a.probes = 'responds';
    await pass(500);
    expect(picked(4)).toEqual({ a: 2, b: 2 });
    expect(reported).toEqual(['a ejected: refused', 'a returned']);
  });

  it('that is frozen is ejected within 1.5 s, is sent nothing, and returns when it wakes up', async () => {
    const { replicas, reported, picked } = some('a', 'b');
    await pass(500);
    replicas[0].probes = 'silent';
    await pass(1_500);
    expect(reported).toEqual(['a ejected: probe']);
    for (let second = 0; second < 20; second += 1) {
      expect(picked(10)).toEqual({ b: 10 });
      await pass(1_000);
    }
    replicas[0].probes = 'responds';
    await pass(1_500);
    expect(picked(4)).toEqual({ a: 2, b: 2 });
  });

  it('whose calls fail while its probes succeed is sent one call in five seconds, until one succeeds', async () => {
    const { replicas, picker, reported, picked } = some('a', 'b');
    const [a] = replicas;
    for (let call = 0; call < 5; call += 1) picker.failed(a);
    expect(reported).toEqual(['a ejected: failures']);
    for (let trial = 0; trial < 3; trial += 1) {
      expect(picked(50)).toEqual({ b: 50 });
      await pass(5_000);
      expect(picked(50)).toEqual({ a: 1, b: 49 });
      picker.failed(a);
    }
    await pass(5_000);
    expect(picker.pick(new Set())).toBe(a);
    picker.responded(a);
    expect(reported.at(-1)).toBe('a returned');
    expect(picked(4)).toEqual({ a: 2, b: 2 });
  });

  it('that is about to close is picked only where there is no other', () => {
    const { replicas, picked } = some('a', 'b');
    replicas[0].isDraining = true;
    expect(picked(4)).toEqual({ b: 4 });
    replicas[1].isDraining = true;
    expect(picked(4)).toEqual({ a: 2, b: 2 });
  });

  it('whose failures are interrupted by responses is not ejected', () => {
    const { replicas, picker, reported } = some('a', 'b');
    for (let call = 0; call < 100; call += 1) {
      picker.failed(replicas[0]);
      if (call % 4 === 3) picker.responded(replicas[0]);
    }
    expect(reported).toEqual([]);
  });
});

describe('replicas', () => {
  it('are all used when all are ejected: late probes end no service', async () => {
    const { replicas, picker, picked } = some('a', 'b');
    for (const replica of replicas) replica.probes = 'silent';
    await pass(2_000);
    expect(picker.ejected).toBe(2);
    expect(picked(4)).toEqual({ a: 2, b: 2 });
  });

  it('are probed one at a time, each as often as it responds', async () => {
    const { replicas } = some('a', 'b');
    replicas[0].probes = 'silent';
    await pass(10_000);
    expect(replicas.map(({ probed }) => probed)).toEqual([10, 20]);
  });

  it('without a choice are probed only while they are to come back', async () => {
    const { replicas, picker } = some('a');
    await pass(10_000);
    expect(replicas[0].probed).toBe(0);
    picker.refused(replicas[0]);
    await pass(500);
    expect(replicas[0].probed).toBe(1);
    await pass(10_000);
    expect(replicas[0].probed).toBe(1);
  });

  it('are not probed after the end', async () => {
    const { replicas, picker } = some('a', 'b');
    picker[Symbol.dispose]();
    picker.refused(replicas[0]);
    await pass(5_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a replica whose connection broke', () => {
  it('is left out from the next call on, and is back with the probe that succeeds', async () => {
    const { replicas, reported, picked, picker } = some('a', 'b');
    picker.lost(replicas[0]);
    expect(picked(4)).toEqual({ b: 4 });
    await pass(0);
    expect(picked(4)).toEqual({ a: 2, b: 2 });
    expect(reported).toEqual([]);
  });

  it('is ejected by the failed probe, long before five calls have failed', async () => {
    const { replicas, reported, picked, picker } = some('a', 'b');
    replicas[0].probes = 'refused';
    picker.lost(replicas[0]);
    await pass(0);
    expect(reported).toEqual(['a ejected: probe']);
    expect(picked(4)).toEqual({ b: 4 });
  });

  it('is probed once for all the connections that broke together', async () => {
    const { replicas, picker } = some('a', 'b');
    replicas[0].probes = 'silent';
    for (let call = 0; call < 32; call += 1) picker.lost(replicas[0]);
    expect(replicas[0].probed).toBe(1);
  });

  it('is used where there is no other', async () => {
    const { replicas, picked, picker } = some('a', 'b');
    for (const replica of replicas) replica.probes = 'silent';
    for (const replica of replicas) picker.lost(replica);
    expect(picked(4)).toEqual({ a: 2, b: 2 });
  });
});
