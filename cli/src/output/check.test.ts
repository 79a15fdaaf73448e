import { expect, it } from 'vitest';
import type { CheckResult } from '../shared/verdict.ts';
import { countChecks, renderCheck, renderSummary } from './check.ts';
import { createStyle } from './style.ts';

const plain = createStyle({ enabled: false });
const passed: CheckResult = { group: 'outbox', name: 'it is empty', verdict: 'pass', evidence: '0 events' };

it('a check is one line: verdict, name, evidence and time', () => {
  expect(renderCheck({ ...passed, tookMs: 1_230 }, plain)).toBe('pass    it is empty: 0 events (1.23 s)');
  expect(renderCheck(passed, plain, { groupWidth: 8 })).toBe('pass    outbox   it is empty: 0 events');
});

it('what was expected and observed is below the name, and replaces the evidence; details follow', () => {
  const failed = { ...passed, verdict: 'fail', expected: '0 events', observed: '2', details: 'one\ntwo' } as const;
  const below = ['expected 0 events', 'observed 2', 'one', 'two'].map((line) => `        ${line}`);
  expect(renderCheck(failed, plain)).toBe(['FAIL    it is empty', ...below].join('\n'));
});

it('a pass with something to do is a warning', () => {
  expect(renderCheck({ ...passed, fix: 'wait' }, plain)).toBe('warn    it is empty: 0 events\n        wait');
});

it('checks are counted by verdict, and in the colour of the worst', () => {
  const checks = (['pass', 'pass', 'unknown', 'fail'] as const).map((verdict) => ({ ...passed, verdict }));
  expect(countChecks(checks)).toBe('2 of 4 checks passed, 1 failed, 1 unknown');
  expect(countChecks([passed])).toBe('1 of 1 checks passed');
  const { red, yellow } = createStyle({ enabled: true });
  expect(renderSummary(checks, 4_200, createStyle({ enabled: true }))).toBe(red(`${countChecks(checks)}, in 4.20 s`));
  const withoutFailure = checks.slice(0, 3);
  expect(renderSummary(withoutFailure, 5, createStyle({ enabled: true }))).toBe(
    yellow('2 of 3 checks passed, 1 unknown, in 5 ms'),
  );
});
