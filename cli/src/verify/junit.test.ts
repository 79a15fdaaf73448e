import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CheckResult } from './check.ts';
import { escapeXml, renderJunit } from './junit.ts';

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

  it('escapes everything that is not text, in any string', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const escaped = escapeXml(text);
        expect(escaped).not.toMatch(/[<>"]|&(?!(amp|lt|gt|quot|#10);)/);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 cannot hold these in any form.
        expect(escaped).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
        expect(escaped.isWellFormed()).toBe(true);
      }),
    );
  });
});
