import { describe, expect, it } from 'vitest';
import type { CheckResult } from './check.ts';
import { renderJunit } from './junit.ts';

const base = { id: 'outbox', title: 'the outbox is back at 0', evidence: '0 events', durationMs: 1234 } as const;
const at = { startedAt: new Date('2026-01-02T03:04:05Z'), tookMs: 2500 };
const render = (...results: readonly CheckResult[]) => renderJunit(results, at);

describe('the JUnit report', () => {
  it('has one testcase a check, with its time in seconds and its evidence', () => {
    const xml = render({ ...base, verdict: 'ok' });
    expect(xml).toContain('<testsuites tests="1" failures="0" errors="0" time="2.500">');
    expect(xml).toContain(
      '<testcase classname="shopctl.verify" name="outbox: the outbox is back at 0" time="1.234"><system-out>0 events</system-out></testcase>',
    );
  });

  it('counts a failed check as a failure and an unknown one as an error', () => {
    const xml = render({ ...base, verdict: 'failed' }, { ...base, verdict: 'unknown', evidence: 'no report' });
    expect(xml).toContain('tests="2" failures="1" errors="1"');
    expect(xml).toContain('<failure type="failed" message="0 events">');
    expect(xml).toContain('<error type="unknown" message="no report">');
  });
});
