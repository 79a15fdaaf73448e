import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { FaultSession } from '../chaos/fault-session.ts';
import type { Lease } from '../chaos/lease.ts';
import { neverInEffect, runFaultWindow } from './fault-window.ts';

const lease: Lease = {
  id: 'abc123',
  fault: 'down',
  kind: 'proxy',
  target: 'orders-broker',
  parameters: {},
  status: 'active',
  since: '2026-01-02T03:04:05.000Z',
  ttlMs: 1_000,
  expiresAt: '2026-01-02T03:05:05.000Z',
  isHeld: true,
  witness: { verdict: 'observed', evidence: 'refused' },
};

/** A session that reverts what it injects, unless a test changes that. */
function aSession(changes: Partial<Pick<FaultSession, 'inject' | 'revert' | 'refresh' | 'isLost'>> = {}) {
  const calls: string[] = [];
  const session = {
    async inject(step: string, { hold }: { hold: boolean }) {
      calls.push(`inject ${step}${hold ? ' held' : ''}`);
      return lease;
    },
    async revert() {
      calls.push('revert');
      return { reverted: [lease], notReverted: [] };
    },
    refresh: async () => ({ ...lease, status: 'reverted' as const }),
    isLost: () => false,
    ...changes,
  } as unknown as FaultSession;
  return { session, calls };
}

const faults = [{ target: 'orders-broker', fault: 'down', parameters: {} }];
/** Its time was over before it began: nothing is waited for. */
const phase = { name: 'fault', startS: 0, durationS: 3, rate: 1, vus: 1, demands: 'responded' } as const;
const past = { startedAt: performance.now() - 10_000, signal: new AbortController().signal };

describe('the window of a fault', () => {
  it('injects it as a held lease, reverts it, and reports from when to when it acted', async () => {
    const { session, calls } = aSession();
    const { faults: reported, checks, notReverted } = await runFaultWindow({ faults, session, phase }, past);
    expect(calls).toEqual(['inject down on orders-broker held', 'revert']);
    expect(reported).toMatchObject([
      { from: lease.since, to: expect.any(String), inEffect: true, evidence: 'refused' },
    ]);
    expect(checks).toMatchObject([{ verdict: 'pass', evidence: 'observed: refused' }]);
    expect(notReverted).toEqual([]);
  });

  it('is unknown when the fault was not seen in effect, or could not be injected', async () => {
    const unseen = {
      ...lease,
      status: 'reverted',
      witness: { verdict: 'not_observed', evidence: 'no effect' },
    } as const;
    const absent = aSession({ refresh: async () => unseen });
    expect((await runFaultWindow({ faults, ...absent, phase }, past)).checks).toMatchObject([{ verdict: 'unknown' }]);
    const refused = aSession({ inject: async () => Promise.reject(new Error('no such proxy')) });
    const { checks, faults: reported } = await runFaultWindow({ faults, ...refused, phase }, past);
    expect(checks).toMatchObject([{ verdict: 'unknown', evidence: 'not injected: no such proxy' }]);
    expect(reported).toMatchObject([{ from: null, to: null }]);
  });

  it('is unknown when the fault was not in place any more at its end', async () => {
    const { session } = aSession({ isLost: (step) => step === 'down on orders-broker' });
    const { checks, faults: reported } = await runFaultWindow({ faults, session, phase }, past);
    expect(checks).toMatchObject([{ verdict: 'unknown', evidence: 'it was not in place any more at its end' }]);
    expect(reported).toMatchObject([{ inEffect: false }]);
  });

  it('of a load that ended before it names each fault, as never in effect', () => {
    expect(neverInEffect(faults, 'the load ended')).toEqual({
      faults: [{ ...faults[0], from: null, to: null, inEffect: false, evidence: 'the load ended' }],
      checks: [
        { group: 'fault', name: 'down on orders-broker was in effect', verdict: 'unknown', evidence: 'the load ended' },
      ],
    });
  });

  it('is unknown when others ended the fault before its time', async () => {
    const end = { why: 'asked for', tookMs: 1, evidence: 'connects' };
    const cleared = aSession({ refresh: async () => ({ ...lease, status: 'reverted' as const, end }) });
    const { checks, faults: reported } = await runFaultWindow({ faults, ...cleared, phase }, past);
    expect(checks).toMatchObject([{ verdict: 'unknown', evidence: 'others ended it before its time: asked for' }]);
    expect(reported).toMatchObject([{ from: lease.since, to: null }]);
  });

  it('of a fault that happens once is over when it has happened, not at the end of its phase', async () => {
    const once = {
      ...lease,
      status: 'reverted',
      end: { why: 'it happens once', tookMs: 1, evidence: 'ready' },
    } as const;
    let endedAt = 0;
    const { session } = aSession({
      inject: async () => once,
      refresh: async () => once,
      async revert() {
        endedAt = Date.now();
        await delay(50);
        return { reverted: [], notReverted: [] };
      },
    });
    const { faults: reported } = await runFaultWindow({ faults, session, phase }, past);
    expect(Date.parse(String(reported[0]?.to))).toBeLessThanOrEqual(endedAt);
  });

  it('reports a fault that could not be reverted', async () => {
    const left = aSession({
      revert: async () => ({ reverted: [], notReverted: ['down on orders-broker'] }),
      refresh: async () => ({ ...lease, status: 'undo_failed' as const }),
    });
    const { notReverted, faults: reported } = await runFaultWindow({ faults, ...left, phase }, past);
    expect(notReverted).toEqual(['down on orders-broker']);
    expect(reported).toMatchObject([{ to: null }]);
  });

  it('reverts also when it is interrupted while it waits', async () => {
    const { session, calls } = aSession();
    const signal = AbortSignal.abort();
    await expect(
      runFaultWindow({ faults, session, phase }, { startedAt: performance.now(), signal }),
    ).rejects.toMatchObject({ name: 'AbortError' });
    expect(calls).toEqual(['revert']);
  });
});
