import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { cloneRoot } from '../../platform/project.ts';
import type { PageData } from '../../report/page-data.ts';
import { findScenario, readScenarios } from '../format/catalog.ts';
import type { DrillRecord } from '../journal/records.ts';
import { candidatesOf } from '../seal/draw.ts';
import { commitmentOf, seal } from '../seal/envelope.ts';
import { aJournal, type Happening } from '../testing/a-journal.ts';
import { before, during } from '../testing/exemplars.ts';
import { verifyJournal } from '../verify.ts';
import { renderDebriefPage } from './render-html.ts';

const scenarios = await readScenarios(cloneRoot());
const candidates = candidatesOf(scenarios, 2, { hasDeploy: false }).filter(({ id }) => id === 'd201');
const envelope = seal(scenarios, { seed: '3', level: 2, candidates, build: 'x' });
const assets = { script: 'draw("</script>")', style: 'p { color: red }' };
const by = 'ada';

function render(records: readonly DrillRecord[]): string {
  return renderDebriefPage(records, {
    round: '20260101-120000',
    findings: verifyJournal({ records, isTorn: false }, scenarios),
    assets,
  });
}

const HAPPENINGS: readonly Happening[] = [
  [35, { type: 'page', alert: 'OrdersErrorBudgetBurn', state: 'firing' }],
  [40, { type: 'look', source: 'traces' }],
  [80, { type: 'ack', alert: 'OrdersErrorBudgetBurn', by }],
  [85, { type: 'note', text: 'is it <b>payments</b>?', by }],
  [90, { type: 'action', change: 'restart', target: 'stock', from: 'ready', to: 'ready', by }],
  [100, { type: 'action', change: 'reroute', target: 'orders-payments', from: 'primary', to: 'standby', by }],
  [180, { type: 'proof', status: 'Confirmed', spans: 31, expectedSpans: 31 }],
  [199, before],
  [199, during],
];
const journal = aJournal({
  scenario: envelope.scenario,
  envelope,
  happenings: HAPPENINGS,
  failing: [[30, 103]],
  ended: 'fixed',
  endsAt: 200,
});
const page = render(journal);

function dataOf(text: string): PageData {
  const [, json = ''] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(text) ?? [];
  return JSON.parse(json) as PageData;
}

it('has the truth, the points, and each lost point with its reason and its record', () => {
  expect(page).toContain('<h1>network:orders-payments, slow, all-orders</h1>');
  expect(page).toMatch(/<strong class="word">\d+(\.\d)? of 100<\/strong>/);
  const needless = journal.find((record) => record.type === 'action' && record.target === 'stock');
  expect(page).toContain(
    `<li>−5: restart of stock was needless <span class="muted">(record ${needless?.seq})</span></li>`,
  );
});

it('has failure, customers, pages and trainee on one time axis', () => {
  const { happenings, faults, seconds, durationMs } = dataOf(page);
  expect(happenings.map(({ label }) => label)).toEqual(['failure', 'customers', 'pages', 'looks', 'trainee', 'round']);
  expect(faults).toEqual([{ fromMs: 30_000, toMs: 200_000, label: 'latency on orders-payments', tone: 'fault' }]);
  expect(happenings[1]?.spans).toMatchObject([{ fromMs: 30_000, toMs: 106_000, tone: 'bad' }]);
  expect(happenings[2]?.spans).toMatchObject([{ fromMs: 35_000, label: 'OrdersErrorBudgetBurn' }]);
  expect([seconds.responses[2]?.[29], seconds.responses[2]?.[30]]).toEqual([0, 4]);
  expect(seconds.p50).toHaveLength(Math.floor(durationMs / 1000) + 1);
});

it('has a lane for each of two failures, and one for decoys', () => {
  const two = findScenario(scenarios, 'd503');
  const happenings: readonly Happening[] = [
    [31, { type: 'injected', index: 1, happenedMs: 31_000 }],
    [50, { type: 'decoy', do: 'restart', target: 'catalog', happenedMs: 50_000 }],
  ];
  const lanes = dataOf(render(aJournal({ scenario: two, happenings }))).happenings.slice(0, 3);
  expect(lanes.map(({ label, spans }) => [label, ...spans.map((one) => one.label)])).toEqual([
    ['failure', 'down on orders-broker'],
    ['', 'telemetry-outage on telemetry'],
    ['decoys', 'decoy: restart catalog'],
  ]);
});

it('says since when each clue was there, and when it was looked at', () => {
  const known = /<h2 id="known">.*?<\/section>/s.exec(page)?.[0] ?? '';
  expect(known).toMatch(/traces.*?<td data-column="since">0:30.0<\/td><td data-column="looked at">0:40.0</s);
  expect(known).toMatch(/not looked at/);
});

it('compares an order from before with one during', () => {
  expect(page).toContain('Cancelled: payment unavailable');
  expect(page).toMatch(/- orders publish order\.confirmed/);
});

it('has what another program needs to compute the commitment', () => {
  const [, json = ''] = /<details>.*?<pre>(.*?)<\/pre>/s.exec(page) ?? [];
  const text = json.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&gt;', '>').replaceAll('&lt;', '<');
  const digest = createHash('sha256').update(text.replaceAll('&amp;', '&')).digest('hex');
  expect(digest).toBe(commitmentOf(envelope));
  expect(page).toContain(envelope.nonce);
  expect(page.match(/✓ pass/g)).toHaveLength(4);
});

it('says first that a journal which was changed proves nothing', () => {
  const changed = render(journal.toSpliced(20, 1));
  expect(changed).toContain('<div class="verdict bad">');
  expect(changed).toContain('this journal proves nothing');
});

it('takes no text of a round for markup, and asks nothing of the network', () => {
  expect(page).toContain('is it &lt;b&gt;payments&lt;/b&gt;?');
  expect(page).not.toMatch(/https?:\/\/|(?:src|href)="(?!data:,")| style=/);
});

it('shows nothing of a round that was not revealed', () => {
  const hidden = render(
    journal.slice(
      0,
      journal.findIndex(({ type }) => type === 'end'),
    ),
  );
  expect(hidden).toContain('A round that was not revealed');
  // Hashes may have these digits.
  expect(hidden).not.toMatch(/\bd201\b/);
  expect(hidden).not.toContain('latency on');
});
