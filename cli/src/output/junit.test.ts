import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeXml, type JunitCase, renderJunitSuites } from './junit.ts';

const passed: JunitCase = { group: 'g', name: 'n', verdict: 'pass', evidence: 'seen', tookMs: 10 };
const startedAt = new Date('2026-01-02T03:04:05Z');
const suite = { name: 'A', startedAt, tookMs: 1000, classname: 'c' };

/** Any UTF-16 code units, so that control characters and halves of surrogate pairs are frequent. */
const anyText = fc.array(fc.nat({ max: 0xffff })).map((units) => String.fromCharCode(...units));

describe('a JUnit report of several suites', () => {
  it('adds the suites up, and gives each its own totals and properties', () => {
    const xml = renderJunitSuites([
      { ...suite, properties: { seed: '7' }, cases: [passed] },
      { ...suite, name: 'B', tookMs: 500, cases: [{ ...passed, verdict: 'fail' }] },
    ]);
    expect(xml).toContain('<testsuites tests="2" failures="1" errors="0" time="1.500">');
    expect(xml).toContain('<testsuite name="A" tests="1" failures="0" errors="0" skipped="0" time="1.000"');
    expect(xml).toContain('<property name="seed" value="7"/>');
    expect(xml).toContain('<failure type="fail" message="seen">seen</failure>');
  });

  it('has one testcase a check, with its time in seconds and its evidence', () => {
    const { group: _, ...withId } = { ...passed, id: 'outbox' };
    const xml = renderJunitSuites([{ ...suite, cases: [passed, withId] }]);
    expect(xml).toContain('<testcase classname="c.g" name="n" time="0.010"><system-out>seen</system-out></testcase>');
    expect(xml).toContain('<testcase classname="c" name="outbox: n" time="0.010">');
  });

  it.each([
    ['fail', 'failures="1" errors="0" skipped="0"', '<failure type="fail" message="seen">more</failure>'],
    ['dirty', 'failures="1" errors="0" skipped="0"', '<failure type="dirty" message="seen">more</failure>'],
    ['unknown', 'failures="0" errors="1" skipped="0"', '<error type="unknown" message="seen">more</error>'],
    ['interrupted', 'failures="0" errors="1" skipped="0"', '<error type="interrupted" message="seen">more</error>'],
    ['skipped', 'failures="0" errors="0" skipped="1"', '<skipped message="seen"/>'],
  ] as const)('counts %s as %s', (verdict, totals, element) => {
    const xml = renderJunitSuites([{ ...suite, cases: [{ ...passed, verdict, details: 'more' }] }]);
    expect(xml).toContain(totals);
    expect(xml).toContain(element);
  });

  it('escapes everything that is not text, in any string', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const escaped = escapeXml(text);
        expect(escaped).not.toMatch(/[<>"]|&(?!(amp|lt|gt|quot|#10);)/);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 cannot hold these in any form.
        expect(escaped).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
        expect(escaped.isWellFormed()).toBe(true);
      }),
    );
  });
});
