import { describe, expect, it } from 'vitest';
import type { RunVerdict } from '../../shared/verdict.ts';
import type { JournalRecord } from '../journal-records.ts';
import { findBoundary } from './boundaries.ts';
import { checkRound } from './check-round.ts';
import { planMatrix } from './plan.ts';
import type { RoundSpec } from './round-experiment.ts';

const RESERVED = findBoundary('stock-reserved:unsaved');
const CHARGED = findBoundary('payment-charged:unsaved');

function aSpec(fault = 'down', target = 'orders-payments'): RoundSpec {
  const row = planMatrix({ faults: [fault], targets: [target] }, 1).rows[0];
  return { row, boundaries: [RESERVED, CHARGED], path: 'request' };
}

const record = (ms: number, rest: object) => ({ at: '2026-01-01T00:00:00.000Z', ms, ...rest }) as JournalRecord;
const sent = record(1_000, {
  type: 'order',
  op: 1,
  step: 'order for orders.stock-reserved:unsaved',
  phase: 'before',
  state: 'invoke',
});
const begun = (ms: number) =>
  record(ms, {
    type: 'step',
    phase: 'method',
    index: 4,
    name: 'the fault',
    kind: 'action',
    provider: 'fault',
    state: 'begin',
  });
const injected = (ms: number) => record(ms, { type: 'fault', step: 'the fault', state: 'injected', lease: {} });

function check(spec: RoundSpec, records: readonly JournalRecord[], verdict: RunVerdict, ...reasons: string[]) {
  const checked = checkRound(spec, records, { verdict, reasons });
  return {
    verdict: checked.verdict,
    cells: Object.fromEntries([...checked.cells].map(([{ name }, one]) => [name, one.verdict])),
  };
}

describe('a round that passed', () => {
  it('passes at each boundary when the fault came while orders were held', () => {
    expect(check(aSpec(), [sent, injected(1_000 + RESERVED.holdMs - 1)], 'pass')).toEqual({
      verdict: 'pass',
      cells: { 'orders.stock-reserved:unsaved': 'pass', 'orders.payment-charged:unsaved': 'pass' },
    });
  });

  it('is unknown when the fault came when an order may have gone on', () => {
    expect(check(aSpec(), [sent, injected(1_000 + RESERVED.holdMs)], 'pass').verdict).toBe('unknown');
  });

  it('is unknown when no record says when the fault came', () => {
    expect(check(aSpec(), [sent], 'pass').verdict).toBe('unknown');
  });

  it('counts a signal from when it was sent, however long the process takes to end', () => {
    const records = [sent, begun(2_000), injected(60_000)];
    expect(check(aSpec('stop', 'orders'), records, 'pass').verdict).toBe('pass');
    expect(check(aSpec(), records, 'pass').verdict).toBe('unknown');
  });
});

describe('a round that did not pass', () => {
  const unreached =
    '"held at orders.payment-charged:unsaved": 0 times, expected failpoint of orders.payment-charged:unsaved at least 1 times';

  it('is unknown at the one boundary that no order came to, though its probe failed', () => {
    const probe = record(3_000, {
      type: 'step',
      phase: 'method',
      index: 3,
      name: 'held at orders.payment-charged:unsaved',
      kind: 'probe',
      provider: 'event',
      state: 'end',
      verdict: 'fail',
    });
    expect(check(aSpec(), [sent, probe, injected(2_000)], 'fail', unreached)).toEqual({
      verdict: 'unknown',
      cells: { 'orders.stock-reserved:unsaved': 'pass', 'orders.payment-charged:unsaved': 'unknown' },
    });
  });

  it('fails as a whole when the ledger does not balance', () => {
    const audit = record(9_000, { type: 'audit', invariants: [{ id: 'I4', verdict: 'fail' }] });
    expect(check(aSpec(), [sent, injected(2_000), audit], 'fail', 'I4 is violated', unreached)).toEqual({
      verdict: 'fail',
      cells: { 'orders.stock-reserved:unsaved': 'fail', 'orders.payment-charged:unsaved': 'fail' },
    });
  });

  it('is unknown as a whole when a sum that was wrong before it is wrong in another way', () => {
    const audit = record(9_000, { type: 'audit', invariants: [{ id: 'I5', verdict: 'unknown' }] });
    const reason = 'I5 stock reserved is unknown: otherwise wrong than before: product 7';
    expect(check(aSpec(), [sent, injected(2_000), audit], 'unknown', reason).verdict).toBe('unknown');
  });

  it('is unknown as a whole when the fault was not seen, also if an order did not come', () => {
    const reasons = [unreached, '"the fault": absent: it was not there'];
    expect(check(aSpec(), [sent, injected(2_000)], 'fail', ...reasons)).toEqual({
      verdict: 'unknown',
      cells: { 'orders.stock-reserved:unsaved': 'unknown', 'orders.payment-charged:unsaved': 'unknown' },
    });
  });

  it.each(['dirty', 'interrupted'] as const)('is %s as a whole', (verdict) => {
    expect(check(aSpec(), [sent, injected(2_000)], verdict, 'something is left').verdict).toBe(verdict);
  });
});
