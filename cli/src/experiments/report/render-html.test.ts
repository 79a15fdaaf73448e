import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PageData } from '../../report/page-data.ts';
import type { JournalRecord } from '../journal-records.ts';
import { renderHtml } from './render-html.ts';
import { syntheticJournal } from './testing/synthetic-journal.ts';

const assets = { script: 'draw("</script>")', style: 'p { color: red }' };
const render = (records: readonly JournalRecord[]) => renderHtml(records, assets);

const HOSTILE = `</script></style><script>alert(1)</script><img src="x" onerror='alert(2)'>--> ]]> &amp; \u0000 \u202e \ud800`;
const hostile = () => render(syntheticJournal({ text: (plain) => `${HOSTILE}${plain}` }));

/** What a browser would take for elements. */
function tagsOf(page: string): string[] {
  return [...page.matchAll(/<([a-z][a-z0-9]*)/gi)].map(([, name = '']) => name.toLowerCase());
}

function dataOf(page: string): PageData {
  const [, json = ''] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page) ?? [];
  return JSON.parse(json) as PageData;
}

describe('the HTML report', () => {
  it('says the verdict, why, and with which evidence', () => {
    const page = render(syntheticJournal());
    expect(page).toContain('<strong class="word">fail</strong>');
    expect(page).toContain('immediate responses with the breaker open: p95 4.52 s, expected at most 300 ms');
    expect(page).toContain('a canary got a response after 5,004 ms');
    expect(page).toContain('+ POST ×2 (retry)');
    expect(page).toContain('lost 0192f0c4-9e5a-7bbb-8a55-0f3b7a3c9d11: no shipment');
  });

  it('names the column in each cell of the faults, for screens too narrow for six columns', () => {
    const rows = render(syntheticJournal()).match(/<table class="stacks">.*?<\/table>/s)?.[0] ?? '';
    const columns = [...rows.matchAll(/<th scope="col">([^<]+)</g)].map(([, name]) => name);
    const named = [...rows.matchAll(/<td data-column="([^"]+)"/g)].map(([, name]) => name);
    expect(columns).toHaveLength(6);
    expect(named.slice(0, 5)).toEqual(columns.slice(1));
    expect(rows).not.toContain('<td>');
  });

  it('asks nothing of the network', () => {
    const page = render(syntheticJournal());
    expect(page).not.toMatch(/(?:src|href)="(?!data:,")/);
    expect(page).not.toMatch(/https?:\/\//);
    expect(page).toContain("default-src 'none'");
  });

  it('lets only its own script and style run, by their hashes', () => {
    const page = render(syntheticJournal());
    for (const [element, directive] of [
      ['script', 'script-src'],
      ['style', 'style-src'],
    ] as const) {
      const [, inline = ''] = new RegExp(`<${element}>(.*?)</${element}>`, 's').exec(page) ?? [];
      const hash = createHash('sha256').update(inline).digest('base64');
      expect(page).toContain(`${directive} 'sha256-${hash}'`);
    }
    expect(page).not.toContain('unsafe');
    expect(page).not.toMatch(/ style=| on[a-z]+=/);
  });

  it('takes no text of a run for markup', () => {
    const page = hostile();
    expect(tagsOf(page).filter((tag) => tag === 'script')).toHaveLength(2);
    expect(tagsOf(page)).not.toContain('img');
    expect(tagsOf(page).sort()).toEqual(
      tagsOf(render(syntheticJournal({ text: (plain) => plain.padStart(200, 'x') }))).sort(),
    );
    expect(page).not.toContain('\u0000');
    expect(page.isWellFormed()).toBe(true);
  });

  it('keeps hostile text whole within the data of the charts', () => {
    const [first] = dataOf(hostile()).faults;
    expect(first?.label).toContain('</script></style><script>alert(1)</script>');
  });

  it('says of a journal without a verdict that there is none, and what was not reverted', () => {
    const page = render(syntheticJournal({ verdict: 'none' }));
    expect(page).toContain('interrupted, no verdict');
    expect(page).toContain('the journal does not say that latency of orders-payments was reverted');
    expect(page).toContain('last heard of in the phase &quot;method&quot;');
    expect(page).toContain('The auditor did not run.');
  });

  it('makes a page of any beginning of a journal, also of nothing', () => {
    const records = syntheticJournal({ orders: 5, seconds: 20 });
    for (let length = 0; length <= records.length; length++) {
      const page = render(records.slice(0, length));
      expect(page).toContain('</html>');
      expect(dataOf(page).seconds.p50.length).toBeGreaterThan(0);
    }
  });

  it('shows 500 of many orders with each outcome among them, and counts the rest', () => {
    const page = render(syntheticJournal({ orders: 5_000 }));
    expect(page.match(/<tr data-outcome=/g)).toHaveLength(500);
    expect(page).toContain('500 of 5,000; the journal has all');
    expect(new Set([...page.matchAll(/<tr data-outcome="(\d)"/g)].map(([, kind]) => kind)).size).toBe(6);
    expect(dataOf(page).orders.placedMs).toHaveLength(5_000);
  });

  it('draws a gap where nothing was measured, and says so', () => {
    const page = render(syntheticJournal());
    expect(dataOf(page).seconds.pending.slice(20, 24)).toEqual([3, null, null, 3]);
    expect(page).toContain('In 4 of 60 seconds something could not be measured: telemetry did not respond in 1 s');
  });

  it('shows the orders of each phase in numbers', () => {
    const page = render(syntheticJournal({ orders: 100 }));
    expect(page).toContain(
      '<th scope="row">before</th><td class="number" data-column="orders">26</td><td class="number" data-column="confirmed">26</td>',
    );
  });
});
