import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeXml, type JunitCase, renderJunitSuites } from './junit.ts';

const held: JunitCase = { classname: 'c', name: 'n', outcome: 'ok', evidence: 'seen', tookMs: 10 };
const startedAt = new Date('2026-01-02T03:04:05Z');

/** Any UTF-16 code units, so that control characters and halves of surrogate pairs are frequent. */
const anyText = fc.array(fc.nat({ max: 0xffff })).map((units) => String.fromCharCode(...units));

describe('a JUnit report of several suites', () => {
  it('adds the suites up, and gives each its own totals and properties', () => {
    const xml = renderJunitSuites([
      { name: 'A', startedAt, tookMs: 1000, properties: { seed: '7' }, cases: [held] },
      { name: 'B', startedAt, tookMs: 500, cases: [{ ...held, outcome: 'failed', problem: 'deviated' }] },
    ]);
    expect(xml).toContain('<testsuites tests="2" failures="1" errors="0" time="1.500">');
    expect(xml).toContain('<testsuite name="A" tests="1" failures="0" errors="0" skipped="0" time="1.000"');
    expect(xml).toContain('<property name="seed" value="7"/>');
    expect(xml).toContain('<failure type="deviated" message="seen">seen</failure>');
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
