import { describe, expect, it } from 'vitest';
import { renderLoadPage } from './render-html.ts';
import { aResult, aTimeline } from './testing/result.ts';

const assets = { script: 'draw()', style: 'p { color: red }' };
const options = { assets, timeline: aTimeline, k6Page: undefined };
const invariant = { inFlight: 0, violations: [] };

describe('the page of a load', () => {
  it('has the verdict, and what it is for', () => {
    const page = renderLoadPage(aResult, options);
    expect(page).toContain('<strong class="word">fail</strong> · 1 of 3 checks passed, 1 failed, 1 unknown');
    expect(page).toContain('order_expected{phase:whole} rate&gt;=0.99: 95 % (95 of 100)');
    expect(page).toContain('not checked: how memory grew: it was not measured');
    expect(page).toContain('<span class="word bad">✗ fail</span>');
    expect(page).toContain('k6 wrote no report');
  });

  it('begins with the verdict, and has everything over time before the tables', () => {
    const page = renderLoadPage(aResult, options);
    const parts = [
      'class="verdict bad"',
      'id="happenings"',
      'id="latency"',
      'id="throughput"',
      'id="waiting"',
      'id="usage"',
    ];
    const places = [...parts, '<table class="stacks">', '<h2 id="checks">', '<script>draw()'].map((part) =>
      page.indexOf(part),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it('has the data of its charts, with what a fault was seen by in a table', () => {
    const fault = {
      target: 'orders-broker',
      fault: 'down',
      parameters: {},
      from: '2026-01-02T03:04:07.000Z',
      to: '2026-01-02T03:04:10.000Z',
      inEffect: true,
      evidence: 'a canary was refused',
    };
    const page = renderLoadPage({ ...aResult, faults: [fault] }, options);
    const [, json = ''] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page) ?? [];
    expect(JSON.parse(json)).toEqual(aTimeline);
    expect(page).toContain('<td data-column="evidence">a canary was refused</td>');
  });

  it('says how sagas ended, which clients need not know', () => {
    expect(renderLoadPage(aResult, options)).toContain('Sagas at the end: 93 Confirmed, 2 Cancelled: out of stock');
    expect(renderLoadPage({ ...aResult, sagas: null }, options)).not.toContain('Sagas at the end');
  });

  it('says so where not every response has a mark', () => {
    expect(renderLoadPage(aResult, options)).toContain('1 of 100 responses have a mark');
  });

  it('has the audit with what it found, now and before the run', () => {
    const found = (detail: string) => ({ kind: 'lost', subject: '1', detail }) as const;
    const invariants = [
      {
        ...invariant,
        id: 'I4',
        title: 'money',
        verdict: 'fail',
        evidence: '1 order',
        violations: [found('lost now')],
        preExisting: [found('lost before')],
      },
    ] as const;
    const audit = {
      verdict: 'fail',
      scope: {},
      orders: 100,
      settled: true,
      beyondHorizon: 0,
      waitingFor: '',
      invariants,
      tookMs: 5,
    } as const;
    const page = renderLoadPage({ ...aResult, audit }, options);
    expect(page).toContain('I4 money');
    // Without the name of its column a cell is not understood on a phone, where a row becomes a list.
    expect(page).not.toContain('<td>');
    expect(page).toContain('lost now');
    expect(page).toContain('lost before (pre-existing)');
  });

  it('leads to the report of k6 and asks nothing of the network', () => {
    const page = renderLoadPage(aResult, { ...options, k6Page: 'load.k6.html' });
    expect(page).toContain('<a href="load.k6.html">');
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/https?:\/\//);
  });

  it('takes no text for markup', () => {
    expect(renderLoadPage(aResult, options)).toContain('none &lt;fit&gt;');
  });
});
