import { describe, expect, it } from 'vitest';
import type { AuditReport } from '../audit/audit.ts';
import {
  exitCodeOf,
  judgeAudit,
  judgeDrain,
  judgeK6,
  judgeKeys,
  judgeKnee,
  judgeTraces,
  type LoadCheck,
  verdictOf,
} from './checks.ts';

const threshold = { metric: 'order_duration', condition: 'p(95)<1', isMet: true, observed: '0.5 ms' };
const summary = { thresholds: [threshold], dropped: 0, vusMax: 5 };
const ended = { exitCode: 0, summary, wasEnough: false, messages: '', orders: 10 };
const check = (outcome: LoadCheck['outcome']): LoadCheck => ({ kind: 'k6', name: 'n', outcome, evidence: 'e' });
const outcomes = (checks: readonly LoadCheck[]) => checks.map(({ outcome }) => outcome);

describe('k6', () => {
  it('that ran to its end is ok, and so is each threshold that was met', () => {
    expect(outcomes(judgeK6(ended))).toEqual(['ok', 'ok']);
  });

  it('that says thresholds were crossed ran to its end all the same: they fail', () => {
    const crossed = { ...summary, thresholds: [{ ...threshold, isMet: false }] };
    expect(judgeK6({ ...ended, exitCode: 99, summary: crossed })).toMatchObject([
      { outcome: 'ok' },
      { kind: 'threshold', name: 'order_duration p(95)<1', outcome: 'failed', evidence: '0.5 ms' },
    ]);
  });

  it.each([
    ['a script that fails', { exitCode: 107, messages: 'GoError: no' }, 'k6 ended with 107: GoError: no'],
    ['no summary', { exitCode: 105, summary: 'ENOENT' }, 'k6 ended with 105 and left no summary (ENOENT)'],
    ['no order', { orders: 0 }, 'no order was sent'],
  ])('with %s has shown nothing', (_, end, evidence) => {
    expect(judgeK6({ ...ended, ...end })[0]).toMatchObject({ outcome: 'unknown', evidence });
  });

  it('that was ended because the system was saturated has shown what it was to show', () => {
    expect(judgeK6({ ...ended, exitCode: 105, wasEnough: true })[0]).toMatchObject({ outcome: 'ok' });
  });
});

describe('a knee', () => {
  const knee = {
    sustainedPerSecond: 40,
    p95Ms: 90,
    saturatedAtPerSecond: 60,
    because: 'it was slow',
    highestPerSecond: 52,
  };

  it('is told with what limits it', () => {
    expect(judgeKnee(knee)).toMatchObject({
      outcome: 'ok',
      evidence: '40 orders a second held (p95 90 ms), 60 did not: it was slow',
    });
  });

  it('below the first step fails', () => {
    expect(judgeKnee({ ...knee, sustainedPerSecond: null })).toMatchObject({ outcome: 'failed' });
  });
});

describe('what waits behind the answers', () => {
  const last = { atMs: 0, pending: 3, open: 1 };

  it('must come to its end', () => {
    expect(judgeDrain({ tookMs: 120, last })).toMatchObject({ outcome: 'ok', evidence: '120 ms after the load' });
    expect(judgeDrain({ tookMs: undefined, last })).toMatchObject({
      outcome: 'failed',
      evidence: '3 events and 1 sagas still waited',
    });
  });

  it('is unknown when it cannot be seen', () => {
    expect(judgeDrain('refused')).toMatchObject({ outcome: 'unknown', evidence: 'refused' });
  });
});

describe('the audit', () => {
  const invariant = { id: 'I1', title: 'all end', evidence: '3 orders', violations: [], inFlight: 0 };

  it('is a check per invariant; those that were skipped are none', () => {
    const invariants = [
      { ...invariant, verdict: 'ok' },
      { ...invariant, verdict: 'unknown' },
      { ...invariant, verdict: 'skipped' },
      { ...invariant, verdict: 'violated', violations: [{ kind: 'lost', detail: 'no order' }] },
    ] as const;
    const report = { invariants } as unknown as AuditReport;
    expect(outcomes(judgeAudit(report))).toEqual(['ok', 'unknown', 'failed']);
    expect(judgeAudit(report)[2]?.evidence).toBe('3 orders (lost: no order)');
  });

  it('that could not be made is unknown', () => {
    expect(judgeAudit('no database')).toMatchObject([{ outcome: 'unknown', evidence: 'no database' }]);
  });

  it('fails when a key has two orders', () => {
    expect(judgeKeys([])).toMatchObject({ outcome: 'ok' });
    expect(judgeKeys(['k'])).toMatchObject({ outcome: 'failed', evidence: '1 keys have several: k' });
  });

  it('does not know of two orders for a key where it could not look', () => {
    expect(judgeKeys('no database')).toMatchObject({ outcome: 'unknown', evidence: 'no database' });
  });
});

describe('sampled traces', () => {
  const trace = { traceId: 't', orderId: 'o', phase: 'whole', contract: 'confirmed', explanation: '31 spans' };

  const asked = { wanted: 3, wasEnough: false };

  it('have a check each', () => {
    const found = judgeTraces(
      [
        { ...trace, verdict: 'pass' },
        { ...trace, verdict: 'fail' },
        { ...trace, verdict: 'unknown' },
      ],
      asked,
    );
    expect(outcomes(found)).toEqual(['ok', 'failed', 'unknown']);
  });

  it.each([0, 1, 2])('that were wanted are missing evidence when %d of 3 were had', (had) => {
    const found = judgeTraces(Array(had).fill({ ...trace, verdict: 'pass' }), asked);
    expect(found.at(-1)).toMatchObject({
      name: 'sampled traces',
      outcome: 'unknown',
      evidence: expect.stringContaining(`${had} of 3:`),
    });
    expect(outcomes(found.slice(0, -1))).toEqual(Array(had).fill('ok'));
  });

  it('are not missed where they were not wanted', () => {
    expect(judgeTraces([], { ...asked, wanted: 0 })).toEqual([]);
  });

  it('of a load that was ended because it was saturated may be fewer, and not none', () => {
    const cut = { ...asked, wasEnough: true };
    expect(outcomes(judgeTraces([{ ...trace, verdict: 'pass' }], cut))).toEqual(['ok']);
    expect(outcomes(judgeTraces([], cut))).toEqual(['unknown']);
  });
});

describe('the verdict', () => {
  it.each([
    [['ok', 'ok'], [], 'pass', 0],
    [['ok', 'failed', 'unknown'], [], 'fail', 1],
    [['ok', 'unknown'], [], 'unknown', 5],
    [['ok', 'failed'], ['down on orders-broker'], 'dirty', 6],
  ] as const)('of %j with %j left is %s, exit code %d', (each, notReverted, verdict, code) => {
    expect(verdictOf(each.map(check), notReverted)).toBe(verdict);
    expect(exitCodeOf(verdict)).toBe(code);
  });
});
