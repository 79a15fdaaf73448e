import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { serviceNames } from '../topology/services.ts';
import type { ProcessAccount } from './accounting.ts';
import { type AssertResult, assertTrace, type Clock } from './assert.ts';
import { expectedTree, loadContract } from './contract.ts';
import { type MutableSpan, spansOf } from './synthetic-trace.ts';

const expected = expectedTree(await loadContract('confirmed', cloneRoot()));
const START = 1_000_000;

interface Scene {
  readonly underLoad?: boolean;
  /** Which spans the backend has, by the time since the start in ms. */
  readonly spans: (elapsedMs: number) => readonly MutableSpan[];
  readonly accounts?: (elapsedMs: number) => readonly ProcessAccount[];
  readonly incomplete?: string;
}

/** Runs the assertion on a clock that moves only when it sleeps. */
async function assertScene({ spans, accounts, incomplete, underLoad = false }: Scene): Promise<AssertResult> {
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
    underLoad,
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
    skewMs: 0,
    startedAt: 0,
    droppedAt: START + 10_000,
    settledAt: undefined,
    closed: false,
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

  const quiet = () => serviceNames.map((service) => account({ service, instance: `${service}-1` }));

  it.each([
    ['is gone', { gone: true }],
    ['has dropped spans', { dropped: 1 }],
    ['has spans to send', { outstanding: 1 }],
    ['has spans in flight', { open: 1 }],
    ['has not reported since', { reportedAt: 0 }],
  ])('does not know whether a whole trace has a span too many when a process %s', async (_, changes) => {
    const accounts = () => [...quiet(), account({ instance: 'shipping-2', ...changes })];
    const result = await assertScene({ spans: all, accounts });
    expect(result.verdict).toBe('unknown');
    expect(result.explanation).toContain('there may be more: shipping');
  });

  it('passes a whole trace once every process has sent all its spans', async () => {
    const accounts = (elapsed: number) => quiet().map((one) => ({ ...one, outstanding: elapsed < 2_000 ? 1 : 0 }));
    expect(await assertScene({ spans: all, accounts })).toMatchObject({ verdict: 'pass', waitedMs: 2_000 });
  });

  it('passes a whole trace under load that stayed so for the settle window, unless spans were lost', async () => {
    const busy = () => quiet().map((one) => ({ ...one, outstanding: 3, open: 1 }));
    expect(await assertScene({ spans: all, accounts: busy, underLoad: true })).toMatchObject({
      verdict: 'pass',
      waitedMs: 1_000,
    });
    const lost = () => [...busy(), account({ gone: true })];
    expect(await assertScene({ spans: all, accounts: lost, underLoad: true })).toMatchObject({ verdict: 'unknown' });
  });

  it('fails a whole trace with a span that was still to be sent', async () => {
    const late = { ...all()[0], spanId: 'f'.repeat(16), parentSpanId: all()[0]?.spanId } as MutableSpan;
    const result = await assertScene({
      spans: (elapsed) => (elapsed < 2_000 ? all() : [...all(), late]),
      accounts: (elapsed) => quiet().map((one) => ({ ...one, outstanding: elapsed < 2_000 ? 1 : 0 })),
    });
    expect(result.verdict).toBe('fail');
  });

  it('does not know when the store had no room for what may be too many', async () => {
    expect(await assertScene({ spans: all, accounts: quiet, incomplete: 'too large' })).toMatchObject({
      verdict: 'unknown',
    });
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
      accounts: (elapsed) => [...quiet(), account({ outstanding: elapsed < 6_000 ? 5 : 0 })],
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

  it('does not blame a process whose successor had started before the trace began', async () => {
    const spans = () =>
      withoutShipping().map((span) => ({ ...span, startNanos: 990_000_000_000n, endNanos: 991_000_000_000n }));
    const killed = account({ gone: true, pid: 6, reportedAt: 989_000 });
    const successor = account({ startedAt: 989_500 });
    expect((await assertScene({ spans, accounts: () => [killed, successor] })).absences).toMatchObject([
      { absence: 'never created' },
    ]);
    const tooLate = account({ startedAt: 990_500 });
    expect((await assertScene({ spans, accounts: () => [killed, tooLate] })).absences).toMatchObject([
      { absence: 'lost with process' },
    ]);
  });

  it('does not hold spans against a process that it dropped before the trace began', async () => {
    const spans = () => withoutShipping().map((span) => ({ ...span, startNanos: 990_000_000_000n }));
    const result = await assertScene({ spans, accounts: () => [account({ dropped: 3, droppedAt: 980_000 })] });
    expect(result.absences).toMatchObject([{ absence: 'never created' }]);
  });

  it('reads times by the clock of the receiver: a service an hour ahead has reported later all the same', async () => {
    const hour = 3_600_000;
    const ahead = (span: MutableSpan) => ({ ...span, endNanos: BigInt(START + hour) * 1_000_000n });
    const spans = () => all().map((span) => (span.service === 'orders' ? ahead(span) : span));
    const accounts = () => quiet().map((one) => (one.service === 'orders' ? { ...one, pid: 1, skewMs: -hour } : one));
    expect(await assertScene({ spans, accounts })).toMatchObject({ verdict: 'pass' });
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
    expect(result.explanation).toContain('not ended yet (shipping-1 (pid 7) has 2 spans in flight)');
  });

  it('waits past its limit for the span that is still in flight', async () => {
    const accounts = (elapsed: number) => [account({ open: elapsed < 6_000 ? 1 : 0 })];
    expect(await assertScene({ spans: withoutShipping, accounts })).toMatchObject({ verdict: 'fail', waitedMs: 6_000 });
  });

  it.each([
    ['no process reports', []],
    ['every process has sent all it had', serviceNames.map((service) => account({ service }))],
  ])('does not know why a whole trace is missing when %s: a store may have lost it', async (_, accounts) => {
    const result = await assertScene({ spans: () => [], accounts: () => accounts });
    expect(result.verdict).toBe('unknown');
    expect(result.explanation).toContain('is not in the store');
  });
});
