import { expect, it } from 'vitest';
import type { InvariantResult } from '../../audit/invariant.ts';
import type { AuditRules } from '../format/schema.ts';
import { checkReport, missingFrom } from './auditor.ts';

const rules: AuditRules = { accept: {}, expect: {}, 'dead-letters': 0, settle: 5_000 };
const published: InvariantResult = {
  id: 'I6',
  title: 'published',
  verdict: 'pass',
  evidence: '3 events, 1 unpublished',
  violations: [],
  inFlight: 1,
};
const report = { invariants: [published], settled: true, waitingFor: '' };

it('what is in flight although the settling is over is not known to end well', () => {
  const open = { ...report, settled: false, waitingFor: '1 events in the outbox' };
  expect(checkReport(open, rules)).toMatchObject([
    { verdict: 'unknown', evidence: expect.stringContaining('1 still in flight after 5 s (1 events in the outbox)') },
  ]);
});

it('what others do beside a run that has settled does not count', () => {
  expect(checkReport(report, rules)).toMatchObject([{ verdict: 'pass' }]);
});

it('an expectation of an invariant that the audit does not have is not a pass', () => {
  const expected = { ...rules, expect: { I6: 'fail', I10: 'fail' } } as const;
  expect(missingFrom(report, expected)).toEqual([
    { verdict: 'unknown', reason: 'I10 is expected to fail, and the audit has no I10' },
  ]);
});

it.each(['skipped', 'unknown'] as const)('an invariant that is %s holds only where that is accepted', (verdict) => {
  const looked = { ...report, invariants: [{ ...published, verdict, inFlight: 0 }] };
  const other = verdict === 'skipped' ? 'unknown' : 'skipped';
  expect(checkReport(looked, rules)).toMatchObject([{ verdict: 'unknown' }]);
  expect(checkReport(looked, { ...rules, accept: { I6: [other] } })).toMatchObject([{ verdict: 'unknown' }]);
  expect(checkReport(looked, { ...rules, accept: { I6: [verdict] } })).toMatchObject([{ verdict: 'pass' }]);
});
