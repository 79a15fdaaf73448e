import { expect, it } from 'vitest';
import type { InvariantResult } from '../../../audit/invariant.ts';
import { checkLedger } from './audit.ts';

const results = (verdicts: Readonly<Record<string, InvariantResult['verdict']>>): InvariantResult[] =>
  Object.entries(verdicts).map(([id, verdict]) => {
    return { id, title: 'a rule', verdict, evidence: 'looked at', violations: [], inFlight: 0 };
  });

it.each([
  ['pass', { I6: 'pass', I7: 'pass' }, 'pass'],
  ['pass', { I6: 'pass', I7: 'fail' }, 'fail'],
  ['pass', { I6: 'unknown', I7: 'pass' }, 'unknown'],
  ['pass', { I6: 'skipped', I7: 'pass' }, 'unknown'],
  ['fail', { I6: 'fail', I7: 'fail' }, 'pass'],
  ['fail', { I6: 'fail', I7: 'pass' }, 'fail'],
  ['fail', { I6: 'unknown', I7: 'fail' }, 'unknown'],
  ['pass', { I6: 'pass' }, 'unknown'],
] as const)('each %s, given %j, is %s', (wanted, given, verdict) => {
  expect(checkLedger({ type: 'audit', invariants: ['I6', 'I7'], verdict: wanted }, results(given)).verdict).toBe(
    verdict,
  );
});

it('what is not asked for does not count', () => {
  const result = checkLedger(
    { type: 'audit', invariants: ['I6'], verdict: 'pass' },
    results({ I6: 'pass', I7: 'fail' }),
  );
  expect(result.verdict).toBe('pass');
});
