import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Track } from './release.ts';
import { createReplicaPicker, type Placed, type Replica, type ReplicaPicker } from './replica-picker.ts';
import { upstreamAt } from './upstreams.ts';

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

type Place = Partial<Omit<Placed<FakeReplica>, 'replica'>>;

const placed = (replica: FakeReplica, place: Place = {}) => ({ ...upstreamAt(replica.address), ...place, replica });

function some(...addresses: string[]) {
  const replicas = addresses.map((address) => new FakeReplica(address));
  const reported: string[] = [];
  const picker: ReplicaPicker<FakeReplica> = createReplicaPicker(
    replicas.map((replica) => placed(replica)),
    { failures: 5, trialEveryMs: 5_000 },
    {
      ejected: ({ address }, cause) => void reported.push(`${address} ejected: ${cause}`),
      returned: ({ address }) => void reported.push(`${address} returned`),
    },
  );
  opened.push(picker);
  /** How often each is picked in so many calls, all of which get a response. */
  const picked = (calls: number, keyOf: (call: number) => string | undefined = () => undefined) => {
    const counts: Record<string, number> = {};
    for (let call = 0; call < calls; call += 1) {
      const { address } = picker.pick(new Set(), keyOf(call));
      counts[address] = (counts[address] ?? 0) + 1;
    }
    return counts;
  };
  /** The replicas with these places from now on. */
  const place = (...places: Place[]) =>
    picker.update(places.map((one, index) => placed(replicas[index] as FakeReplica, one)));
  return { replicas: replicas as [FakeReplica, FakeReplica, ...FakeReplica[]], picker, reported, picked, place };
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

describe('weights', () => {
  it('are the shares of the calls, exactly', () => {
    const { picked, place } = some('a', 'b', 'c');
    place({ weight: 1 }, { weight: 9 }, { weight: 90 });
    expect(picked(100)).toEqual({ a: 1, b: 9, c: 90 });
    expect(picked(20_000)).toEqual({ a: 200, b: 1_800, c: 18_000 });
  });

  it('are spread evenly: a heavy replica is not sent its calls in one burst', () => {
    const { picker, place } = some('a', 'b', 'c');
    place({ weight: 5 }, { weight: 1 }, { weight: 1 });
    const order = Array.from({ length: 7 }, () => picker.pick(new Set()).address).join('');
    expect(order).toBe('aabacaa');
  });

  it('of the good replicas count, while others are ejected', () => {
    const { replicas, picker, picked, place } = some('a', 'b', 'c');
    place({ weight: 1 }, { weight: 3 }, { weight: 4 });
    replicas[2] && picker.refused(replicas[2]);
    expect(picked(8)).toEqual({ a: 2, b: 6 });
  });

  it('of 0 draw calls only where no other replica is left', () => {
    const { replicas, picker, picked, place } = some('a', 'b');
    place({ weight: 0 }, { weight: 1 });
    expect(picked(10)).toEqual({ b: 10 });
    expect(picker.pick(new Set([replicas[1]]))).toBe(replicas[1]);
    picker.refused(replicas[1]);
    expect(picked(10)).toEqual({ a: 10 });
    place({ weight: 0 }, { weight: 0 });
    picker.responded(replicas[1]);
    expect(picked(4)).toEqual({ a: 4 });
  });

  it('do not count for a call that names a track, where there is one', () => {
    const { place, picker, replicas } = some('a', 'b', 'c');
    place({ weight: 50 }, { weight: 0, track: 'green' }, { weight: 0, track: 'green' });
    const [, b, c] = replicas as [FakeReplica, FakeReplica, FakeReplica];
    const four = (wanted: Track) => Array.from({ length: 4 }, () => picker.pick(new Set(), 'key', wanted));
    expect(new Set(four('green'))).toEqual(new Set([b, c]));
    expect(new Set(four('canary'))).toEqual(new Set([replicas[0]]));
    expect(picker.pick(new Set([b, c]), undefined, 'green')).not.toBe(replicas[0]);
  });
});

describe('a replica that drains', () => {
  it('is sent no call while another is active, and all of them where none is', () => {
    const { picked, place } = some('a', 'b');
    place({ state: 'draining' }, {});
    expect(picked(4)).toEqual({ b: 4 });
    place({ state: 'draining' }, { state: 'draining' });
    expect(picked(4)).toEqual({ a: 2, b: 2 });
  });

  it('serves while the active one is ejected', () => {
    const { replicas, picker, picked, place } = some('a', 'b');
    place({ state: 'draining' }, {});
    picker.refused(replicas[1]);
    expect(picked(4)).toEqual({ a: 4 });
  });
});

describe('a key', () => {
  const keyOf = (call: number) => `order-${call}`;

  it('draws the share of a track, whose replicas are picked in turn', () => {
    const { picked, place } = some('a', 'b', 'c', 'd');
    place({ weight: 50, track: 'stable' }, { weight: 49, track: 'stable' }, { weight: 1, track: 'canary' });
    const { a = 0, b = 0, c = 0 } = picked(20_000, keyOf);
    expect(Math.abs(c / 200 - 1)).toBeLessThanOrEqual(0.2);
    expect(Math.abs(a - (20_000 - c) * (50 / 99))).toBeLessThanOrEqual(1);
    expect(a + b + c).toBe(20_000);
  });

  it('is always picked the same track, in any picker', () => {
    const tracksOf = () => {
      const { picker, place } = some('a', 'b', 'c');
      place({ track: 'stable' }, { track: 'stable' }, { track: 'canary' });
      const isCanary = (call: number) => picker.pick(new Set(), keyOf(call)).address === 'c';
      return Array.from({ length: 200 }, (_, call) => isCanary(call));
    };
    expect(tracksOf()).toEqual(tracksOf());
    expect(new Set(tracksOf())).toEqual(new Set([true, false]));
  });

  it('goes to another track while its own has no good replica, and back with its probe', async () => {
    const { replicas, picker, picked, place } = some('a', 'b');
    place({ track: 'stable' }, { track: 'canary' });
    const before = picked(200, keyOf);
    expect(before.b).toBeGreaterThan(50);
    replicas[1].probes = 'refused';
    picker.refused(replicas[1]);
    expect(picked(200, keyOf)).toEqual({ a: 200 });
    replicas[1].probes = 'responds';
    await pass(500);
    expect(picked(200, keyOf)).toEqual(before);
  });

  it('is repeated at another replica of its track, then at another track', () => {
    const { replicas, picker, place } = some('a', 'b', 'c');
    const [a, b, c] = replicas as unknown as [FakeReplica, FakeReplica, FakeReplica];
    place({ track: 'canary' }, { track: 'canary' }, { track: 'stable' });
    const key = ['x', 'y', 'z', 'w'].find((one) => picker.pick(new Set(), one) !== c) as string;
    for (let call = 0; call < 4; call += 1) {
      expect([a, b]).toContain(picker.pick(new Set(), key));
      expect(picker.pick(new Set([a]), key)).toBe(b);
      expect(picker.pick(new Set([a, b]), key)).toBe(c);
    }
  });
});

describe('a call without a key', () => {
  it('draws a track at random: which request goes where does not follow from their order', () => {
    const { picked, picker, place } = some('a', 'b', 'c');
    place({ weight: 45, track: 'stable' }, { weight: 45, track: 'stable' }, { weight: 10, track: 'canary' });
    const { a = 0, b = 0, c = 0 } = picked(20_000);
    expect(Math.abs(c / 200 - 10)).toBeLessThanOrEqual(1.5);
    expect(Math.abs(a - b)).toBeLessThanOrEqual(1);
    const order = Array.from({ length: 500 }, () => (picker.pick(new Set()).address === 'c' ? 'x' : '.')).join('');
    const gaps = new Set(order.split('x').map(({ length }) => length));
    expect(gaps.size).toBeGreaterThan(4);
  });
});

describe('what was drawn', () => {
  it('has the track, the version, and the share that the canary had then', () => {
    const { picker, place } = some('a', 'b', 'c');
    place({ weight: 45 }, { weight: 50, version: '0.3.0' }, { weight: 5, track: 'canary', version: '0.4.0' });
    const seen = new Set<string>();
    for (let call = 0; call < 500; call += 1) {
      const { address } = picker.pick(new Set(), `order-${call}`);
      seen.add(`${address} ${picker.drawn.track} ${picker.drawn.version} ${picker.drawn.canaryShare}`);
    }
    expect([...seen].toSorted()).toEqual(['a stable undefined 0.05', 'b stable 0.3.0 0.05', 'c canary 0.4.0 0.05']);
  });

  it('has no share where there was nothing to draw', () => {
    const { replicas, picker, place } = some('a', 'b');
    const [a, b] = replicas;
    const shareOf = (tried: ReadonlySet<FakeReplica> = new Set()) => {
      picker.pick(tried, 'key');
      return picker.drawn.canaryShare;
    };
    expect(shareOf()).toBeUndefined();
    place({ track: 'blue' }, { track: 'green' });
    expect(shareOf()).toBeUndefined();
    place({ weight: 50 }, { weight: 50, track: 'canary' });
    expect(shareOf()).toBe(0.5);
    expect(shareOf(new Set([a, b]))).toBeUndefined();
    picker.lost(b);
    expect(shareOf()).toBeUndefined();
    place({ weight: 100 });
    expect(shareOf()).toBeUndefined();
  });
});

describe('replicas that change', () => {
  it('keep what is known of those that stay', async () => {
    const { replicas, picker, picked, reported, place } = some('a', 'b', 'c');
    const [a] = replicas;
    a.probes = 'refused';
    picker.refused(a);
    place({}, {});
    expect(picker.ejected).toBe(1);
    expect(picked(4)).toEqual({ b: 4 });
    a.probes = 'responds';
    await pass(500);
    expect(picked(4)).toEqual({ a: 2, b: 2 });
    expect(reported).toEqual(['a ejected: refused', 'a returned']);
  });

  it('forget one that is removed: what its last calls report is ignored', async () => {
    const { replicas, picker, picked, reported, place } = some('a', 'b');
    const [, b] = replicas;
    b.probes = 'silent';
    await pass(500);
    place({});
    picker.refused(b);
    picker.failed(b);
    picker.responded(b);
    picker.lost(b);
    await pass(5_000);
    expect(picker.ejected).toBe(0);
    expect(reported).toEqual([]);
    expect(picked(4)).toEqual({ a: 4 });
    place({}, {});
    expect(picked(4)).toEqual({ a: 2, b: 2 });
  });

  it('are never none', () => {
    expect(() => some('a').picker.update([])).toThrow('a picker needs a replica');
  });

  it('are probed from the second one on', async () => {
    const { replicas, place } = some('a', 'b');
    place({});
    const before = replicas[0].probed;
    await pass(5_000);
    expect(replicas[0].probed).toBe(before);
    place({}, {});
    await pass(5_000);
    expect(replicas[0].probed).toBe(before + 10);
  });
});
