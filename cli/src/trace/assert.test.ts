import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { serviceNames } from '../platform/services.ts';
import type { ProcessAccount } from './accounting.ts';
import { type AssertResult, assertTrace, type Clock } from './assert.ts';
import { expectedTree, loadContract } from './contract.ts';
import { type MutableSpan, spansOf } from './synthetic-trace.ts';

const expected = expectedTree(await loadContract('confirmed', cloneRoot()));
const START = 1_000_000;

interface Scene {
  /** Which spans the backend has, by the time since the start in ms. */
  readonly spans: (elapsedMs: number) => readonly MutableSpan[];
  readonly accounts?: (elapsedMs: number) => readonly ProcessAccount[];
  readonly incomplete?: string;
}

/** Runs the assertion on a clock that moves only when it sleeps. */
async function assertScene({ spans, accounts, incomplete }: Scene): Promise<AssertResult> {
  let elapsed = 0;
  const clock: Clock = {
    now: () => START + elapsed,
    async sleep(ms) {
      elapsed += ms;
    },
  };
  return assertTrace({
    backend: { trace: async () => ({ spans: spans(elapsed), incomplete }) },
    traceId: 'a'.repeat(32),
    expected,
    timeoutMs: 5_000,
    settleMs: 1_000,
    ...(accounts && { accounting: async () => accounts(elapsed) }),
    clock,
  });
}

function all(): MutableSpan[] {
  return spansOf(expected);
}

/** The trace without what shipping recorded, as when its batch is still to come. */
function withoutShipping(): MutableSpan[] {
  return all().filter(({ service }) => service !== 'shipping');
}

function account(changes: Partial<ProcessAccount>): ProcessAccount {
  const base = {
    service: 'shipping',
    instance: 'shipping-1',
    pid: 7,
    open: 0,
    outstanding: 0,
    dropped: 0,
    gone: false,
  };
  return { ...base, reportedAt: START + 10_000, ...changes };
}

describe('assertTrace', () => {
  it('passes a trace that meets its contract and stays so for the settle window', async () => {
    const result = await assertScene({ spans: (elapsed) => (elapsed < 600 ? withoutShipping() : all()) });
    expect(result).toMatchObject({ verdict: 'pass', spans: 31, waitedMs: 1_600 });
  });

  it('fails an extra span that arrives within the settle window', async () => {
    const late = { ...(all()[3] as MutableSpan), spanId: 'e'.repeat(16) };
    const result = await assertScene({ spans: (elapsed) => (elapsed < 900 ? all() : [...all(), late]) });
    expect(result.verdict).toBe('fail');
    expect(result.comparison.faults.map(({ kind }) => kind)).toEqual(['extra']);
  });

  it('fails a missing span that was never created', async () => {
    const result = await assertScene({ spans: withoutShipping, accounts: () => [account({})] });
    expect(result.verdict).toBe('fail');
    expect(result.absences).toMatchObject([{ service: 'shipping', absence: 'never created' }]);
  });

  it('does not know while the process has spans to send', async () => {
    const result = await assertScene({ spans: withoutShipping, accounts: () => [account({ outstanding: 5 })] });
    expect(result.verdict).toBe('unknown');
    expect(result.explanation).toContain('not exported yet (shipping-1 (pid 7) has 5 spans to send)');
  });

  it('does not know while the process has not reported since the trace was active', async () => {
    const result = await assertScene({ spans: withoutShipping, accounts: () => [account({ reportedAt: 0 })] });
    expect(result.explanation).toContain('has not reported since');
    expect(result.verdict).toBe('unknown');
  });

  it('waits past its limit for the report that decides', async () => {
    const accounts = (elapsed: number) => [account({ outstanding: elapsed < 6_000 ? 5 : 0 })];
    const result = await assertScene({ spans: withoutShipping, accounts });
    expect(result).toMatchObject({ verdict: 'fail', waitedMs: 6_000 });
  });

  it('passes a trace that is completed while it waits for the report', async () => {
    const result = await assertScene({
      spans: (elapsed) => (elapsed < 6_000 ? withoutShipping() : all()),
      accounts: (elapsed) => [account({ outstanding: elapsed < 6_000 ? 5 : 0 })],
    });
    expect(result.verdict).toBe('pass');
  });

  it.each([
    ['lost with process', account({ gone: true })],
    ['dropped', account({ dropped: 3 })],
    ['not known', account({ service: 'stock' })],
  ])('does not know when spans may be gone: %s', async (absence, only) => {
    const result = await assertScene({ spans: withoutShipping, accounts: () => [only] });
    expect(result.verdict).toBe('unknown');
    expect(result.absences).toMatchObject([{ service: 'shipping', absence }]);
  });

  it('does not blame a process that was gone before the trace began', async () => {
    const spans = () =>
      withoutShipping().map((span) => ({
        ...span,
        startNanos: BigInt(START) * 1_000_000n,
        endNanos: BigInt(START) * 1_000_000n,
      }));
    const earlier = account({ gone: true, instance: 'shipping-1', pid: 6, reportedAt: START - 60_000 });
    const result = await assertScene({ spans, accounts: () => [earlier, account({})] });
    expect(result.absences).toMatchObject([{ absence: 'never created' }]);
  });

  it('does not know when the store had no room for all of the trace', async () => {
    const result = await assertScene({
      spans: withoutShipping,
      accounts: () => [account({})],
      incomplete: 'too large',
    });
    expect(result).toMatchObject({ verdict: 'unknown' });
    expect(result.explanation).toContain('too large');
  });

  it('does not know while the process has spans that have not ended', async () => {
    const result = await assertScene({ spans: withoutShipping, accounts: () => [account({ open: 2 })] });
    expect(result.verdict).toBe('unknown');
    expect(result.explanation).toContain('not ended yet (shipping-1 (pid 7) has 2 spans under way)');
  });

  it('waits past its limit for the span that is still under way', async () => {
    const accounts = (elapsed: number) => [account({ open: elapsed < 6_000 ? 1 : 0 })];
    expect(await assertScene({ spans: withoutShipping, accounts })).toMatchObject({ verdict: 'fail', waitedMs: 6_000 });
  });

  it.each([
    ['nobody reports', []],
    ['every process has sent all it had', serviceNames.map((service) => account({ service }))],
  ])('does not know why a whole trace is missing when %s: a store may have lost it', async (_, accounts) => {
    const result = await assertScene({ spans: () => [], accounts: () => accounts });
    expect(result.verdict).toBe('unknown');
    expect(result.explanation).toContain('is not in the store');
  });
});
