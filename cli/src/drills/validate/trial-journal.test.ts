import { expect, it } from 'vitest';
import { renderJunitSuites } from '../../output/junit.ts';
import { createStyle } from '../../output/style.ts';
import { exitCodeOf } from '../../shared/verdict.ts';
import { describeTrial, renderTrials, reportOf, suitesOf } from './report.ts';
import type { TrialRecord } from './trial.ts';
import { parseTrials, TRIALS_VERSION, waitingIn } from './trial-journal.ts';

function aTrial(scenario: string, verdict: 'pass' | 'fail' | 'unknown', points?: number): TrialRecord {
  return {
    type: 'trial',
    scenario,
    platform: 'shop',
    startedAt: '2026-01-01T00:00:00.000Z',
    tookMs: 120_000,
    ...(points !== undefined && { points }),
    played: [],
    leaks: [],
    checks: [{ id: 'round', name: 'the round is evidence', verdict, evidence: 'as it is' }],
    isQuiet: true,
  };
}

const start = {
  type: 'trials',
  version: TRIALS_VERSION,
  runId: 'r1',
  startedAt: '2026-01-01T00:00:00.000Z',
  scenarios: ['d101', 'd102', 'd103', 'd104'],
};
const text = (...lines: readonly unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

it('goes on with what was not played, and with what was void', () => {
  const whole = text(start, aTrial('d101', 'pass', 98), aTrial('d102', 'unknown'), aTrial('d103', 'fail', 60));
  const journal = parseTrials(`${whole}{"type":"trial","scenario":"d10`);
  expect(waitingIn(journal)).toEqual(['d102', 'd104']);
});

it('counts the last trial of a scenario, and the time of all parts', () => {
  const end = { type: 'end', verdict: 'interrupted', tookMs: 5 };
  const journal = parseTrials(text(start, aTrial('d101', 'unknown'), end, aTrial('d101', 'pass', 98), end));
  expect(journal.trials.map(({ points }) => points)).toEqual([98]);
  expect(journal.tookMs).toBe(10);
});

it('is refused where it is of something else', () => {
  expect(() => parseTrials(text({ type: 'matrix' }))).toThrow('not the start of trials');
  expect(() => parseTrials(text({ ...start, version: 'v0' }))).toThrow('it is of version v0');
});

it('admits what passes; what was not played is unknown', () => {
  const report = reportOf(parseTrials(text(start, aTrial('d101', 'pass', 98), aTrial('d103', 'fail', 60))));
  expect(report).toMatchObject({ verdict: 'fail', admitted: 1 });
  expect(report.scenarios.map(({ id, verdict, points }) => [id, verdict, points])).toEqual([
    ['d101', 'pass', 98],
    ['d102', 'unknown', null],
    ['d103', 'fail', 60],
    ['d104', 'unknown', null],
  ]);
  const lines = renderTrials(report, createStyle({ enabled: false })).split('\n');
  expect(lines[1]).toMatch(/^d101 +pass +98 +2 min/);
  expect(lines.at(-1)).toBe('1 of 4 are admitted');
  const junit = renderJunitSuites(suitesOf(report));
  expect(junit).toContain('<testsuites tests="4" failures="1" errors="2"');
});

it('is dirty where a round could not revert what it did, whatever else was measured', () => {
  const left = { ...aTrial('d103', 'unknown'), unreverted: ['pause acts on orders-2'] };
  const report = reportOf(parseTrials(text(start, aTrial('d101', 'pass', 98), aTrial('d102', 'fail', 60), left)));
  expect([report.verdict, exitCodeOf(report.verdict)]).toEqual(['dirty', 6]);
  expect(report.scenarios[2]).toMatchObject({ id: 'd103', verdict: 'dirty' });
  expect(describeTrial(left)).toMatch(/^d103: dirty, no score/);
});
