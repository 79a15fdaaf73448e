import { describe, expect, it } from 'vitest';
import { renderLoadPage } from './render-html.ts';
import { aResult } from './testing/result.ts';

const style = 'p { color: red }';
const invariant = { inFlight: 0, violations: [] };

describe('the page of a load', () => {
  it('has the verdict, and what it is for', () => {
    const page = renderLoadPage(aResult, { style, k6Page: undefined });
    expect(page).toContain('<strong class="word">fail</strong> · 1 of 3 checks passed, 1 failed, 1 unknown');
    expect(page).toContain('order_expected{phase:whole} rate&gt;=0.99: 95 % (95 of 100)');
    expect(page).toContain('not checked: how memory grew: it was not measured');
    expect(page).toContain('<span class="word bad">✗ fail</span>');
    expect(page).toContain('k6 wrote no report');
  });

  it('shows a fault where it was in effect, on the axis of the phases', () => {
    const fault = {
      target: 'orders-broker',
      fault: 'down',
      parameters: {},
      from: '2026-01-02T03:04:07.000Z',
      to: '2026-01-02T03:04:10.000Z',
      inEffect: true,
      evidence: 'a canary was refused',
    };
    const page = renderLoadPage({ ...aResult, faults: [fault] }, { style, k6Page: undefined });
    expect(page).toContain('<rect x="200" y="26" width="300"');
    expect(page).toContain('<title>down on orders-broker: 0:02.0 to 0:05.0</title>');
    expect(page).toContain('<td data-column="evidence">a canary was refused</td>');
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
    const page = renderLoadPage({ ...aResult, audit }, { style, k6Page: undefined });
    expect(page).toContain('I4 money');
    expect(page).toContain('lost now');
    expect(page).toContain('lost before (pre-existing)');
  });

  it('leads to the report of k6 and asks nothing of the network', () => {
    const page = renderLoadPage(aResult, { style, k6Page: 'load.k6.html' });
    expect(page).toContain('<a href="load.k6.html">');
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/https?:\/\//);
  });

  it('takes no text for markup', () => {
    expect(renderLoadPage(aResult, { style, k6Page: undefined })).toContain('none &lt;fit&gt;');
  });
});
