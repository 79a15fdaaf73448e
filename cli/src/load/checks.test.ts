import { describe, expect, it } from 'vitest';
import type { AuditReport } from '../audit/audit.ts';
import { exitCodeOf } from '../shared/verdict.ts';
import {
  checkAudit,
  checkDrain,
  checkK6,
  checkKeys,
  checkKnee,
  checkTraces,
  type LoadCheck,
  verdictOf,
} from './checks.ts';

const threshold = { metric: 'order_duration', condition: 'p(95)<1', isMet: true, observed: '0.5 ms' };
const summary = { thresholds: [threshold], dropped: 0, vusMax: 5 };
const ended = { exitCode: 0, summary, stoppedEarly: false, messages: '', orders: 10 };
const check = (verdict: LoadCheck['verdict']): LoadCheck => ({ group: 'k6', name: 'n', verdict, evidence: 'e' });
const verdicts = (checks: readonly LoadCheck[]) => checks.map(({ verdict }) => verdict);

describe('k6', () => {
  it('that ran to its end passes, and so does each threshold that was met', () => {
    expect(verdicts(checkK6(ended))).toEqual(['pass', 'pass']);
  });

  it('that says thresholds were crossed ran to its end all the same: they fail', () => {
    const crossed = { ...summary, thresholds: [{ ...threshold, isMet: false }] };
    expect(checkK6({ ...ended, exitCode: 99, summary: crossed })).toMatchObject([
      { verdict: 'pass' },
      { group: 'threshold', name: 'order_duration p(95)<1', verdict: 'fail', evidence: '0.5 ms' },
    ]);
  });

  it.each([
    ['a script that fails', { exitCode: 107, messages: 'GoError: no' }, 'k6 ended with 107: GoError: no'],
    ['no summary', { exitCode: 105, summary: 'ENOENT' }, 'k6 ended with 105 and left no summary (ENOENT)'],
    ['no order', { orders: 0 }, 'no order was sent'],
  ])('with %s has shown nothing', (_, end, evidence) => {
    expect(checkK6({ ...ended, ...end })[0]).toMatchObject({ verdict: 'unknown', evidence });
  });

  it('that was ended because the system was saturated has shown what it was to show', () => {
    expect(checkK6({ ...ended, exitCode: 105, stoppedEarly: true })[0]).toMatchObject({ verdict: 'pass' });
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

  it('is reported with what limits it', () => {
    expect(checkKnee(knee)).toMatchObject({
      verdict: 'pass',
      evidence: '40 orders a second held (p95 90 ms), 60 did not: it was slow',
    });
  });

  it('below the first step fails', () => {
    expect(checkKnee({ ...knee, sustainedPerSecond: null })).toMatchObject({ verdict: 'fail' });
  });
});

describe('what waits behind the responses', () => {
  const last = { atMs: 0, pending: 3, open: 1 };

  it('must come to its end', () => {
    expect(checkDrain({ tookMs: 120, last })).toMatchObject({ verdict: 'pass', evidence: '120 ms after the load' });
    expect(checkDrain({ tookMs: undefined, last })).toMatchObject({
      verdict: 'fail',
      evidence: '3 events and 1 sagas still waited',
    });
  });

  it('is unknown when it cannot be seen', () => {
    expect(checkDrain('refused')).toMatchObject({ verdict: 'unknown', evidence: 'refused' });
  });
});

describe('the audit', () => {
  const invariant = { id: 'I1', title: 'all end', evidence: '3 orders', violations: [], inFlight: 0 };

  it('is a check per invariant; those that were skipped are none', () => {
    const invariants = [
      { ...invariant, verdict: 'pass' },
      { ...invariant, verdict: 'unknown' },
      { ...invariant, verdict: 'skipped' },
      { ...invariant, verdict: 'fail', violations: [{ kind: 'lost', detail: 'no order' }] },
    ] as const;
    const report = { invariants } as unknown as AuditReport;
    expect(verdicts(checkAudit(report))).toEqual(['pass', 'unknown', 'fail']);
    expect(checkAudit(report)[2]?.evidence).toBe('3 orders (lost: no order)');
  });

  it('that could not be made is unknown', () => {
    expect(checkAudit('no database')).toMatchObject([{ verdict: 'unknown', evidence: 'no database' }]);
  });

  it('fails when a key has two orders', () => {
    expect(checkKeys([])).toMatchObject({ verdict: 'pass' });
    expect(checkKeys(['k'])).toMatchObject({ verdict: 'fail', evidence: '1 keys have several: k' });
  });

  it('does not know of two orders for a key where it could not look', () => {
    expect(checkKeys('no database')).toMatchObject({ verdict: 'unknown', evidence: 'no database' });
  });
});

describe('sampled traces', () => {
  const trace = { traceId: 't', orderId: 'o', phase: 'whole', contract: 'confirmed', explanation: '31 spans' };

  const asked = { wanted: 3, stoppedEarly: false };

  it('have a check each', () => {
    const found = checkTraces(
      [
        { ...trace, verdict: 'pass' },
        { ...trace, verdict: 'fail' },
        { ...trace, verdict: 'unknown' },
      ],
      asked,
    );
    expect(verdicts(found)).toEqual(['pass', 'fail', 'unknown']);
  });

  it.each([0, 1, 2])('that were wanted are missing evidence when %d of 3 were had', (had) => {
    const found = checkTraces(Array(had).fill({ ...trace, verdict: 'pass' }), asked);
    expect(found.at(-1)).toMatchObject({
      name: 'sampled traces',
      verdict: 'unknown',
      evidence: expect.stringContaining(`${had} of 3:`),
    });
    expect(verdicts(found.slice(0, -1))).toEqual(Array(had).fill('pass'));
  });

  it('are not missed where they were not wanted', () => {
    expect(checkTraces([], { ...asked, wanted: 0 })).toEqual([]);
  });

  it('of a load that was ended because it was saturated may be fewer, and not none', () => {
    const cut = { ...asked, stoppedEarly: true };
    expect(verdicts(checkTraces([{ ...trace, verdict: 'pass' }], cut))).toEqual(['pass']);
    expect(verdicts(checkTraces([], cut))).toEqual(['unknown']);
  });
});

describe('the verdict', () => {
  it.each([
    [['pass', 'pass'], [], 'pass', 0],
    [['pass', 'fail', 'unknown'], [], 'fail', 1],
    [['pass', 'unknown'], [], 'unknown', 5],
    [['pass', 'fail'], ['down on orders-broker'], 'dirty', 6],
  ] as const)('of %j with %j left is %s, exit code %d', (each, notReverted, verdict, code) => {
    expect(verdictOf(each.map(check), notReverted)).toBe(verdict);
    expect(exitCodeOf(verdict)).toBe(code);
  });
});
