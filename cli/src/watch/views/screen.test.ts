import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { at, someEvidence, TRACE_ID } from '../../shop/testing/stories.ts';
import { expectedTree, loadContract } from '../../trace/contract.ts';
import { spansOf } from '../../trace/synthetic-trace.ts';
import { buildTree } from '../../trace/tree.ts';
import type { Message, WatchModel } from '../model/model.ts';
import { pickFault } from '../model/pickers.ts';
import { update } from '../model/update.ts';
import { drawScreen } from '../testing/draw.ts';
import { aLease, aModel, anInstance, aState, someFigures } from '../testing/models.ts';

const sizes = [
  [80, 24],
  [80, 30],
  [80, 45],
  [100, 40],
  [120, 60],
  [139, 39],
  [140, 40],
  [160, 50],
  [220, 70],
] as const;

const linesOf = (model: WatchModel, columns = 80, rows = 24) => drawScreen(model, { columns, rows });

const textOf = (model: WatchModel, columns?: number, rows?: number) => linesOf(model, columns, rows).join('\n');

const press = (model: WatchModel, ...characters: string[]): WatchModel =>
  characters.reduce((now, character) => update(now, { type: 'key', key: { character } }).model, model);

async function aDetail() {
  const contract = await loadContract('confirmed', new URL('../../../../', import.meta.url).pathname);
  const placed = BigInt(at(0).getTime()) * 1_000_000n;
  const spans = spansOf(expectedTree(contract, { distinctProducts: 1 })).map((span) => ({
    ...span,
    startNanos: placed + span.startNanos,
    endNanos: placed + span.endNanos,
  }));
  const tree = buildTree(spans);
  return { story: someEvidence(), trace: { traceId: TRACE_ID, tree, spans: 31, note: null } };
}

describe('the screen', () => {
  it('says that a drill is on in the place of the faults, whatever the drill is about', () => {
    const drill = { id: '1', startedAt: new Date(aModel().nowMs - 252_000).toISOString(), limitMs: 900_000 };
    const [header] = linesOf({ ...aModel(), faults: [], state: aState({ drill }) });
    expect(header).toContain('drill 4:12 of 15:00');
    expect(header).not.toContain('fault');
  });

  it.each(sizes)('fills %d x %d exactly, whatever page is open', async (columns, rows) => {
    const model = aModel();
    const order = { kind: 'order', id: someEvidence().order.id, tab: 'trace', scroll: 3, problem: undefined } as const;
    const pages = [
      model,
      press(model, '?'),
      press(model, 'f'),
      { ...model, page: { ...order, detail: await aDetail() } },
      { ...model, page: { ...order, detail: undefined } },
    ];
    for (const page of pages) {
      const lines = linesOf(page, columns, rows);
      expect(lines).toHaveLength(rows);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    }
  });

  it.each(sizes)('cuts no word at %d x %d', (columns, rows) => {
    expect(textOf(aModel(), columns, rows)).not.toContain('…');
    expect(textOf(press(aModel(), '?'), columns, rows)).not.toContain('…');
    expect(textOf(press(aModel(), 'f'), columns, rows)).not.toContain('…');
  });

  it.each(sizes)('names each of four components on a line that ends within the screen of %d x %d', (columns, rows) => {
    const { instances } = aState();
    const state = aState({ instances: [...instances, anInstance('prometheus', { rssBytes: 78 * 2 ** 20 })] });
    const lines = linesOf({ ...aModel(), state }, columns, rows);
    for (const name of ['rabbitmq', 'postgres', 'toxiproxy', 'prometheus']) {
      expect(lines.filter((line) => line.includes(`${name} `)).join('\n')).toMatch(new RegExp(`^.*\\b${name} +●`));
    }
    expect(lines.join('\n')).not.toContain('…');
    expect(lines).toHaveLength(rows);
  });

  it('says which size it needs where there is too little room', () => {
    expect(textOf(aModel(), 79, 24)).toContain('needs 80 columns and 24 rows; here are 79');
  });

  it('is the same text with colours', () => {
    const painted = drawScreen(aModel(), { colours: true });
    const plain = painted.map((line) => stripVTControlCharacters(line).trimEnd());
    expect(painted.join('')).not.toBe(plain.join(''));
    expect(plain).toEqual(linesOf(aModel()).map((line) => line.trimEnd()));
  });
});

describe('the overview', () => {
  it('shows the chart of a rising outbox, the band of the fault under it and what is left of its lease', () => {
    const text = textOf(aModel());
    expect(text).toContain('OUTBOX 216, rising 12.0/s');
    expect(text).toMatch(/^ +500│/m);
    expect(text).toMatch(/^ +│ +[▁▂▃▄▅▆▇█]+ /m);
    expect(text).toMatch(/▒{8,}/);
    expect(text).toContain('▒ orders-broker down 0:42 left');
  });

  it('shows how many replicas are ready, and a state by sign, word and number', () => {
    const instances = [anInstance('orders-1'), anInstance('orders-2', { status: 'unready', restarts: 2 })];
    const line = linesOf(aModel({ state: aState({ instances }) })).find((one) => one.startsWith(' orders '));
    expect(line).toMatch(/▲ 1\/2 unready +6 % +168 MB +2 /);
  });

  it('shows an open breaker and marks the edge of a fault', () => {
    const { edges } = someFigures();
    const open = { perSecond: 0, errorsPerSecond: 3, p50Ms: undefined, p95Ms: undefined, retriesPerSecond: 1.5 };
    const figures = someFigures({ edges: { ...edges, 'orders-payments': { ...open, breaker: 'open' } } });
    const text = textOf(aModel({ figures, faults: [aLease({ target: 'orders-payments', fault: 'timeout' })] }));
    expect(text).toMatch(/▒orders-payments +○ open +1\.5 +0\.0 +3\.0 +- +-/);
  });

  it('says which source does not respond', () => {
    const failed = (source: 'platform' | 'telemetry' | 'databases'): Message => ({
      type: 'failed',
      source,
      why: 'gone',
    });
    const sources = ['platform', 'telemetry', 'databases'] as const;
    const model = sources.reduce((now, source) => update(now, failed(source)).model, aModel());
    expect(textOf(model)).toContain('✗ gone; waiting for it');
    expect(textOf(model)).toMatch(/EDGE +gone/);
    expect(textOf(model)).toContain('ORDERS gone');
  });

  it('keeps the order under the cursor on the screen', () => {
    const model = aModel();
    const last = model.shop?.orders.at(-1);
    expect(textOf({ ...model, selected: last?.id })).toContain(`▸03:04:48 ${last?.id.slice(0, 8)}`);
  });
});

describe('the fault picker', () => {
  it('shows what was typed, the choices that contain it, and what the chosen one does', () => {
    const text = textOf({ ...aModel(), page: { ...pickFault(), filter: 'latency 1' } });
    expect(text).toContain('▸ latency 1s');
    expect(text).not.toContain('bandwidth');
    expect(text).toContain('with "latency 1"');
    expect(text).toContain('each piece of data is delayed');
  });
});

describe('the page of an order', () => {
  it('has its conclusion and its trace, scrolled; Tab leads to the timeline', async () => {
    const id = someEvidence().order.id;
    const page = { kind: 'order', id, tab: 'trace', scroll: 0, problem: undefined, detail: await aDetail() } as const;
    const trace = textOf({ ...aModel(), page });
    expect(trace).toContain('payments accepted 450.00 UAH');
    expect(trace).toContain('└ POST /stock.Inventory/Reserve');
    const end = textOf({ ...aModel(), page: { ...page, scroll: 99 } });
    expect(end).toContain('31 spans in 6 services, 16 SQL over 5 databases');
    const { model } = update({ ...aModel(), page }, { type: 'key', key: 'tab' });
    expect(textOf(model)).toContain('◆ start order');
  });

  it('shows both side by side on a wide screen', async () => {
    const id = someEvidence().order.id;
    const page = { kind: 'order', id, tab: 'trace', scroll: 0, problem: undefined, detail: await aDetail() } as const;
    const text = textOf({ ...aModel(), page }, 160, 50);
    expect(text).toMatch(/TRACE +TIMELINE/);
    expect(text).toContain('31 spans in 6 services');
  });
});
