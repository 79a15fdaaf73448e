import { describe, expect, it } from 'vitest';
import { renderJunitSuites } from '../../output/junit.ts';
import type { JournalRecord } from '../journal-records.ts';
import { suiteOfRun } from './junit-suite.ts';
import { parseXml, type XmlElement } from './testing/parse-xml.ts';
import { syntheticJournal } from './testing/synthetic-journal.ts';

const renderJunit = (...runs: readonly (readonly JournalRecord[])[]) => renderJunitSuites(runs.map(suiteOfRun));

function casesOf(xml: string): { name: string; outcome: string }[] {
  return allOf(parseXml(xml), 'testcase').map((one) => ({
    name: `${one.attributes.classname} ${one.attributes.name}`,
    outcome: one.children[0]?.name ?? '',
  }));
}

function allOf(element: XmlElement, name: string): XmlElement[] {
  return [...(element.name === name ? [element] : []), ...element.children.flatMap((child) => allOf(child, name))];
}

describe('the JUnit report of a run', () => {
  it('has a testcase per probe, witness, reach, never and invariant, and one for the verdict', () => {
    expect(casesOf(renderJunit(syntheticJournal()))).toEqual([
      { name: 'E08.steady-before an order is confirmed', outcome: 'system-out' },
      { name: 'E08.method cancelled, not hanging', outcome: 'system-out' },
      { name: 'E08.method immediate responses with the breaker open', outcome: 'failure' },
      { name: 'E08.steady-after outbox drained', outcome: 'error' },
      { name: 'E08.witness payments slow: latency of orders-payments is in effect', outcome: 'system-out' },
      { name: 'E08.reach breaker.open, edge orders-payments', outcome: 'system-out' },
      { name: 'E08.never process.exit', outcome: 'error' },
      { name: 'E08.audit I4: money', outcome: 'system-out' },
      { name: 'E08.audit I7: one shipment per confirmed order', outcome: 'failure' },
      { name: 'E08.audit I11: metrics', outcome: 'system-out' },
      { name: 'E08.run verdict', outcome: 'failure' },
    ]);
  });

  it('has seed and run, and a failure with what was expected and observed', () => {
    const root = parseXml(renderJunit(syntheticJournal()));
    const properties = allOf(root, 'property').map(({ attributes }) => [attributes.name, attributes.value]);
    expect(properties).toContainEqual(['seed', '7']);
    expect(properties).toContainEqual(['runId', '20261121-161500-E08-7']);
    const [failure] = allOf(root, 'failure');
    expect(failure?.attributes).toMatchObject({ type: 'fail', message: 'p95 4.52 s' });
    expect(failure?.text).toContain('expected: each response in at most 300 ms\nobserved: p95 4.52 s');
  });

  it.each(['none', 'unknown', 'interrupted'] as const)('is never green for the verdict %s', (verdict) => {
    const [last] = casesOf(renderJunit(syntheticJournal({ verdict }))).slice(-1);
    expect(last).toEqual({ name: 'E08.run verdict', outcome: 'error' });
  });

  it('is a failure when something remains', () => {
    expect(casesOf(renderJunit(syntheticJournal({ verdict: 'dirty' }))).at(-1)?.outcome).toBe('failure');
  });

  it('puts several runs into one file, a suite each, and adds them up', () => {
    const root = parseXml(renderJunit(syntheticJournal(), syntheticJournal({ verdict: 'none' })));
    const suites = allOf(root, 'testsuite');
    expect(suites).toHaveLength(2);
    expect(Number(root.attributes.tests)).toBe(allOf(root, 'testcase').length);
    expect(Number(root.attributes.errors)).toBe(allOf(root, 'error').length);
    expect(Number(root.attributes.failures)).toBe(allOf(root, 'failure').length);
  });

  it('holds any text', () => {
    const text = '</testcase>]]><x a="1\'> & \u0000 \u001b[31m \ud800 €';
    const root = parseXml(renderJunit(syntheticJournal({ text: (plain) => `${plain}${text}` })));
    expect(allOf(root, 'testcase')).toHaveLength(11);
    expect(allOf(root, 'testcase')[0]?.attributes.name).toBe(
      'an order is confirmed</testcase>]]><x a="1\'> & \ufffd  \ufffd €',
    );
  });
});
