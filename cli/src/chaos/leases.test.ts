import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEventLog } from '../platform/events.ts';
import type { FaultRecord, UndoLog } from '../platform/undo-log.ts';
import { type AnyFault, defineFault } from './fault.ts';
import { Leases } from './leases.ts';
import type { PlatformAccess } from './platform-access.ts';

/** What has happened, in order: writes of the undo log and acts of the fault. */
let effects: string[];
let open: FaultRecord[];
let isStuck: boolean;
let refusal: Error | undefined;
let isDiskFull: boolean;

const log: UndoLog = {
  async begin(record) {
    open.push(record);
    effects.push('written');
  },
  async reverted({ id, why }) {
    if (isDiskFull) throw new Error('ENOSPC');
    open = open.filter((record) => record.id !== id);
    effects.push(`recorded: ${why}`);
  },
  open: async () => open,
};

const parameters = Type.Object({ size: Type.Optional(Type.Integer({ minimum: 1 })) }, { additionalProperties: false });

function aFault(changes: Partial<AnyFault> = {}): AnyFault {
  return defineFault({
    name: 'dent',
    kind: 'process',
    scope: 'process',
    title: 'a dent',
    parameters,
    defaults: { parameters: {} },
    prepare: async ({ target }) => ({ mark: `undo of ${target}` }),
    async inject() {
      effects.push('injected');
      if (refusal) throw refusal;
    },
    witness: async () => ({ verdict: 'observed', evidence: 'a dent' }),
    async undo({ mark }: { mark: string }) {
      effects.push(mark);
    },
    async verify() {
      if (isStuck) throw new Error('it is bent');
      return 'smooth';
    },
    ...changes,
  });
}

function leasesOf(fault: AnyFault = aFault(), events = createEventLog()): Leases {
  const platform = { isLive: true, state: () => undefined } as unknown as PlatformAccess;
  return new Leases({
    log,
    platform,
    events,
    onChange: () => undefined,
    findFault: () => fault,
    checkTarget: () => undefined,
  });
}

const request = { fault: 'dent', target: 'orders', parameters: {}, ttlMs: 5_000, hold: false };
const stays = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers();
  effects = [];
  open = [];
  isStuck = false;
  refusal = undefined;
  isDiskFull = false;
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a fault', () => {
  it('is on disk before it happens, ends at its time to live, is seen to be gone, and is recorded', async () => {
    const leases = leasesOf();
    expect(await leases.inject(request, stays)).toMatchObject({ status: 'active', witness: { verdict: 'observed' } });
    expect(effects).toEqual(['written', 'injected']);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(leases.unfinished()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(effects).toEqual(['written', 'injected', 'undo of orders', 'recorded: its time to live expired']);
    expect(leases.list()).toMatchObject([{ status: 'reverted', end: { evidence: 'smooth' } }]);
  });

  it('that was not seen is looked for again when it is asked about, once for all who ask', async () => {
    const witness = vi.fn<AnyFault['witness']>(async () => ({ verdict: 'observed', evidence: 'a dent' }));
    witness.mockResolvedValueOnce({ verdict: 'not_observed', evidence: 'smooth' });
    const leases = leasesOf(aFault({ witness }));
    expect(await leases.inject(request, stays)).toMatchObject({ witness: { verdict: 'not_observed' } });
    const [one, other] = await Promise.all([leases.refresh(), leases.refresh()]);
    expect([one, other]).toMatchObject([
      [{ witness: { verdict: 'observed' } }],
      [{ witness: { verdict: 'observed' } }],
    ]);
    await leases.refresh();
    expect(witness).toHaveBeenCalledTimes(2);
  });

  it('is refused while the same one looks at what it would change', async () => {
    const looked = Promise.withResolvers<object>();
    const leases = leasesOf(aFault({ prepare: () => looked.promise }));
    const first = leases.inject(request, stays);
    await expect(leases.inject(request, stays)).rejects.toMatchObject({
      what: 'dent is already active on orders',
      exitCode: 2,
    });
    looked.resolve({ mark: 'undo of orders' });
    expect(await first).toMatchObject({ status: 'active' });
    expect(leases.unfinished()).toHaveLength(1);
  });

  it('that could not look leaves its place free', async () => {
    let looks = 0;
    const prepare = async () => {
      if (++looks === 1) throw new Error('no response');
      return { mark: 'undo of orders' };
    };
    const leases = leasesOf(aFault({ prepare }));
    await expect(leases.inject(request, stays)).rejects.toThrow('no response');
    expect(await leases.inject(request, stays)).toMatchObject({ status: 'active' });
  });

  it('that is held ends when its holder disconnects, and once', async () => {
    const holder = new AbortController();
    const leases = leasesOf();
    await leases.inject({ ...request, hold: true }, holder.signal);
    holder.abort();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(effects.slice(2)).toEqual(['undo of orders', 'recorded: its holder was lost']);
  });

  it('that is detached outlives its command', async () => {
    const command = new AbortController();
    const leases = leasesOf();
    await leases.inject(request, command.signal);
    command.abort();
    await vi.advanceTimersByTimeAsync(4_000);
    expect(leases.unfinished()).toMatchObject([{ status: 'active' }]);
  });

  it('ends when its command disconnects while it is being injected, detached or not', async () => {
    const command = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    const leases = leasesOf(aFault({ inject: () => promise }));
    const injecting = leases.inject(request, command.signal);
    await vi.advanceTimersByTimeAsync(1);
    command.abort();
    await vi.advanceTimersByTimeAsync(1);
    expect(effects).toEqual(['written']);
    resolve();
    await injecting;
    await vi.advanceTimersByTimeAsync(1);
    expect(effects).toEqual(['written', 'undo of orders', 'recorded: its holder was lost']);
  });

  it('that could not be injected is reverted, and the reason is reported', async () => {
    refusal = new Error('no such thing');
    const leases = leasesOf();
    await expect(leases.inject(request, stays)).rejects.toMatchObject({
      why: 'no such thing',
      code: 'injection_failed',
    });
    expect(effects.at(-1)).toBe('recorded: it could not be injected');
    expect(leases.unfinished()).toEqual([]);
  });

  it('that happens once has ended when its command gets its response', async () => {
    expect(await leasesOf(aFault({ isMomentary: true })).inject(request, stays)).toMatchObject({ status: 'reverted' });
  });

  it('whose undo cannot be verified is undo_failed, stays on disk, and is reverted by a later attempt', async () => {
    isStuck = true;
    const leases = leasesOf();
    await leases.inject(request, stays);
    expect(await leases.clear('all', 'asked for')).toMatchObject({
      reverted: [],
      notReverted: [{ problem: 'it is bent' }],
    });
    expect(open).toHaveLength(1);
    isStuck = false;
    expect(await leases.clear('all', 'asked for')).toMatchObject({
      reverted: [{ status: 'reverted' }],
      notReverted: [],
    });
    expect(open).toEqual([]);
  });

  it('that was seen to be gone is reverted although the disk takes no record of it', async () => {
    const leases = leasesOf();
    await leases.inject(request, stays);
    isDiskFull = true;
    const evidence = 'smooth; this could not be written to the undo log: ENOSPC';
    expect(await leases.clear('all', 'asked for')).toMatchObject({
      reverted: [{ end: { evidence } }],
      notReverted: [],
    });
  });

  it('that a restarted proxy is given again is reverted only once it has arrived', async () => {
    const arrival = Promise.withResolvers<void>();
    let times = 0;
    const inject = async () => {
      times += 1;
      if (times === 2) await arrival.promise;
      effects.push(`injected ${times}`);
    };
    const leases = leasesOf(aFault({ kind: 'toxic', inject }));
    await leases.inject(request, stays);
    const again = leases.reapply();
    await vi.advanceTimersByTimeAsync(request.ttlMs);
    arrival.resolve();
    await again;
    await vi.advanceTimersByTimeAsync(0);
    expect(effects).toEqual([
      'written',
      'injected 1',
      'injected 2',
      'undo of orders',
      'recorded: its time to live expired',
    ]);
  });

  it('is given to a restarted proxy only once its undo is on disk', async () => {
    const written = Promise.withResolvers<void>();
    const begin = vi.spyOn(log, 'begin').mockImplementationOnce(async () => {
      await written.promise;
      effects.push('written');
    });
    const leases = leasesOf(aFault({ kind: 'toxic' }));
    const injecting = leases.inject(request, stays);
    await vi.advanceTimersByTimeAsync(0);
    expect(begin).toHaveBeenCalledOnce();
    await leases.reapply();
    written.resolve();
    await injecting;
    expect(effects).toEqual(['written', 'injected']);
    begin.mockRestore();
  });

  it('that is ending is not given again to a restarted proxy', async () => {
    const undone = Promise.withResolvers<void>();
    const leases = leasesOf(aFault({ kind: 'toxic', undo: () => undone.promise }));
    await leases.inject(request, stays);
    const clearing = leases.clear('all', 'asked for');
    await leases.reapply();
    undone.resolve();
    await clearing;
    expect(effects).toEqual(['written', 'injected', 'recorded: asked for']);
  });

  it('whose undo hangs is undo_failed after the limit', async () => {
    const leases = leasesOf(aFault({ undo: () => new Promise(() => undefined), undoLimitMs: 3_000 }));
    await leases.inject(request, stays);
    const clearing = leases.clear('all', 'asked for');
    await vi.advanceTimersByTimeAsync(3_000);
    expect((await clearing).notReverted).toMatchObject([{ status: 'undo_failed' }]);
  });
});

describe('before anything happens', () => {
  it.each([
    ['a wrong parameter', { ...request, parameters: { size: 0 } }],
    ['an unknown parameter', { ...request, parameters: { sise: 1 } }],
    ['no time to live', { ...request, ttlMs: 0 }],
    ['an endless time to live', { ...request, ttlMs: Number.POSITIVE_INFINITY }],
  ])('%s is refused', async (_, wrong) => {
    await expect(leasesOf().inject(wrong, stays)).rejects.toMatchObject({ exitCode: 2 });
    expect(effects).toEqual([]);
  });

  it('a second of the same kind on the same target is refused', async () => {
    const leases = leasesOf();
    const { id } = await leases.inject(request, stays);
    await expect(leases.inject(request, stays)).rejects.toThrow(id);
    expect(effects).toEqual(['written', 'injected']);
  });
});

describe('several faults', () => {
  it('are reverted the newest first', async () => {
    const leases = leasesOf();
    for (const target of ['a', 'b', 'c']) await leases.inject({ ...request, target }, stays);
    await leases.clear('all', 'asked for');
    expect(effects.filter((line) => line.startsWith('undo'))).toEqual(['undo of c', 'undo of b', 'undo of a']);
  });

  it('an id that is none is refused before any is reverted', async () => {
    const leases = leasesOf();
    const { id } = await leases.inject(request, stays);
    await expect(leases.clear([id, 'unknown-id'], 'asked for')).rejects.toMatchObject({ code: 'unknown_fault_id' });
    expect(leases.unfinished()).toMatchObject([{ status: 'active' }]);
  });

  it('of a killed supervisor are undo_failed until they are reverted', async () => {
    await leasesOf().inject(request, stays);
    const after = leasesOf();
    await after.adopt();
    expect(after.unfinished()).toMatchObject([{ target: 'orders', status: 'undo_failed' }]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await after.clear('all', 'reverted')).reverted).toHaveLength(1);
    expect(open).toEqual([]);
  });

  it('whose fault is unknown are not adopted: another version has recorded them', async () => {
    await leasesOf().inject(request, stays);
    const after = new Leases({
      log,
      platform: {} as PlatformAccess,
      events: createEventLog(),
      onChange: () => undefined,
    });
    await expect(after.adopt()).rejects.toMatchObject({
      what: 'the undo log has an unknown fault "dent"',
      exitCode: 6,
    });
  });

  it('end with the platform on a full disk', async () => {
    const leases = leasesOf(aFault({ endsWithPlatform: true }));
    for (const target of ['a', 'b']) await leases.inject({ ...request, target }, stays);
    isDiskFull = true;
    await leases.endWithPlatform();
    expect(leases.unfinished()).toEqual([]);
  });

  it('end with the platform: what its processes take along is only recorded', async () => {
    const leases = leasesOf(aFault({ endsWithPlatform: true }));
    await leases.inject(request, stays);
    await leases.endWithPlatform();
    expect(effects).toEqual(['written', 'injected', 'recorded: the platform ends']);
  });
});

it('a fault that what holds it has forgotten is lost; one that cannot be asked for is not', async () => {
  let response: () => Promise<boolean> = async () => true;
  const leases = leasesOf(aFault({ isInPlace: () => response() }));
  const request = { fault: 'dent', target: 'orders', parameters: {}, ttlMs: 60_000, hold: false };
  const { id } = await leases.inject(request, new AbortController().signal);
  expect(await leases.lost([id])).toEqual([]);
  response = async () => false;
  expect(await leases.lost([id])).toEqual([id]);
  expect(await leases.lost([])).toEqual([]);
  response = () => Promise.reject(new Error('Toxiproxy hangs'));
  expect(await leases.lost([id])).toEqual([]);
  await leases.clear('all', 'over');
});

describe('a fault whose effect an operator may have ended', () => {
  const request = { fault: 'dent', target: 'orders', parameters: {}, ttlMs: 60_000, hold: false };
  let looks: number;
  let verdict: 'observed' | 'not_observed';
  const leases = () =>
    leasesOf(
      aFault({
        witness: async () => {
          looks += 1;
          return { verdict, evidence: verdict === 'observed' ? 'a dent' : 'smooth' };
        },
      }),
    );
  beforeEach(() => {
    looks = 0;
    verdict = 'observed';
  });

  it('is looked at again once, stays active, and is reverted at its end', async () => {
    const all = leases();
    await all.inject(request, stays);
    verdict = 'not_observed';
    expect(await all.refresh()).toMatchObject([{ status: 'active', witness: { evidence: 'a dent' } }]);
    all.lookAgain();
    expect(await all.refresh()).toMatchObject([{ status: 'active', witness: { evidence: 'smooth' } }]);
    await all.refresh();
    expect(looks).toBe(2);
    expect((await all.clear('all', 'over')).notReverted).toEqual([]);
    expect(open).toEqual([]);
  });

  it('is seen to be in effect again after the next change', async () => {
    const all = leases();
    await all.inject(request, stays);
    verdict = 'not_observed';
    all.lookAgain();
    await all.refresh();
    verdict = 'observed';
    all.lookAgain();
    expect(await all.refresh()).toMatchObject([{ witness: { evidence: 'a dent' } }]);
    await all.clear('all', 'over');
  });

  it('keeps what was measured while its target does not respond', async () => {
    let isDown = false;
    const all = leasesOf(
      aFault({
        witness: async () => {
          if (isDown) throw new Error('ECONNREFUSED');
          return { verdict, evidence: verdict === 'observed' ? 'a dent' : 'smooth' };
        },
      }),
    );
    await all.inject(request, stays);
    verdict = 'not_observed';
    isDown = true;
    all.lookAgain();
    expect(await all.refresh()).toMatchObject([{ witness: { evidence: 'a dent' } }]);
    isDown = false;
    expect(await all.refresh()).toMatchObject([{ witness: { evidence: 'smooth' } }]);
    await all.clear('all', 'over');
  });
});

describe('a fault of a drill', () => {
  const hidden = { fault: 'dent', target: 'orders', parameters: {}, ttlMs: 5_000, hidden: true } as const;

  it('is in no list and no event, keeps its place, and ends at its time to live as any other', async () => {
    const events = createEventLog();
    const leases = leasesOf(aFault(), events);
    const lease = await leases.injectHidden(hidden);
    expect(await lease.witness()).toMatchObject({ verdict: 'observed' });
    expect(open).toMatchObject([{ fault: 'dent', hidden: true }]);
    expect([leases.list(), leases.unfinished(), await leases.refresh()]).toEqual([[], [], []]);
    expect(leases.allUnfinished()).toHaveLength(1);
    await expect(leases.inject(request, stays)).rejects.toMatchObject({ code: 'fault_already_active' });
    expect(await leases.clear('all', 'asked for')).toEqual({ reverted: [], notReverted: [] });
    await vi.advanceTimersByTimeAsync(5_000);
    expect([open, leases.allUnfinished(), events.recent()]).toEqual([[], [], []]);
    await lease.revert('the round is over');
    expect(effects.filter((effect) => effect === 'undo of orders')).toHaveLength(1);
  });

  it('is injected before it is looked at, which may take seconds', async () => {
    const looked = Promise.withResolvers<{ verdict: 'observed'; evidence: string }>();
    const leases = leasesOf(aFault({ witness: () => looked.promise }));
    const lease = await leases.injectHidden(hidden);
    looked.resolve({ verdict: 'observed', evidence: 'a dent' });
    expect(await lease.witness()).toMatchObject({ verdict: 'observed' });
    await lease.revert('the round is over');
  });

  it('is listed when it could not be reverted', async () => {
    const leases = leasesOf();
    const lease = await leases.injectHidden(hidden);
    isStuck = true;
    await expect(lease.revert('the round is over')).rejects.toMatchObject({ code: 'fault_not_reverted', exitCode: 6 });
    expect(leases.list()).toMatchObject([{ status: 'undo_failed', problem: 'it is bent' }]);
  });

  it('ends with the platform', async () => {
    const leases = leasesOf();
    await leases.injectHidden(hidden);
    await leases.endWithPlatform();
    expect(open).toEqual([]);
  });
});
