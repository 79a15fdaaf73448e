import { expect, it } from 'vitest';
import type { InvariantResult } from '../../../audit/invariant.ts';
import { judgeLedger } from './audit.ts';

const results = (verdicts: Readonly<Record<string, InvariantResult['verdict']>>): InvariantResult[] =>
  Object.entries(verdicts).map(([id, verdict]) => {
    return { id, title: 'a rule', verdict, evidence: 'looked at', violations: [], inFlight: 0 };
  });

it.each([
  ['ok', { I6: 'pass', I7: 'pass' }, 'held'],
  ['ok', { I6: 'pass', I7: 'fail' }, 'deviated'],
  ['ok', { I6: 'unknown', I7: 'pass' }, 'unknown'],
  ['ok', { I6: 'skipped', I7: 'pass' }, 'unknown'],
  ['violated', { I6: 'fail', I7: 'fail' }, 'held'],
  ['violated', { I6: 'fail', I7: 'pass' }, 'deviated'],
  ['violated', { I6: 'unknown', I7: 'fail' }, 'unknown'],
  ['ok', { I6: 'pass' }, 'unknown'],
] as const)('each %s, given %j, is %s', (verdict, given, outcome) => {
  expect(judgeLedger({ type: 'audit', invariants: ['I6', 'I7'], verdict }, results(given)).outcome).toBe(outcome);
});

it('what is not asked for does not count', () => {
  const result = judgeLedger({ type: 'audit', invariants: ['I6'], verdict: 'ok' }, results({ I6: 'pass', I7: 'fail' }));
  expect(result.outcome).toBe('held');
});
