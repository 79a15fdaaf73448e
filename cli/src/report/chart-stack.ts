import { html, jsonBlock, type Markup } from './html.ts';
import { GLYPHS, type PageData, type UsageRow } from './page-data.ts';

const HINT =
  'Tinted bands between dashed lines are faults, solid lines are beginnings of phases. Point at a chart, or focus the charts ' +
  'and use the arrow keys (with Shift: 10 s). Drag or press + and - to zoom, Escape shows the whole run.';

export interface ChartTexts {
  /** What `pending` counts; absent: events of the outbox. */
  readonly pending?: string;
  /** What `waiting` counts; absent: nothing. */
  readonly waiting?: string;
  /** Below the charts of what is left to do. */
  readonly notes?: Markup | undefined;
  readonly ifNoBreakers?: Markup;
}

/** The charts' places with their legends, and the data that the page's script draws into them. */
export function chartStack(data: PageData, texts: ChartTexts): Markup {
  return html`<p class="muted screen-only">${HINT}</p>
  <noscript><p>The charts need JavaScript; all of their numbers are also in the tables below.</p></noscript>
  <div class="toolbar"><button type="button" id="whole-run">Show the whole run</button></div>
  <div id="charts" tabindex="0" role="group" aria-label="Charts of the run; arrow keys move the cursor, which is read out">
    <p id="cursor" class="cursor-line" aria-live="polite"></p>
    ${chart('What happened', 'happenings')}
    ${data.outcomes.length > 0 ? orderCharts(data) : html`<p>No order was placed.</p>`}
    ${chart('Left to do', 'waiting', waitingLegend(texts))}
    ${texts.notes}
    ${data.usage.length > 0 ? chart('CPU in percent: all cores, and each process of one core', 'usage', usageLegend(data.usage)) : undefined}
    ${data.breakers.length > 0 ? chart('Circuit breakers', 'breakers') : texts.ifNoBreakers}
  </div>
  <script type="application/json" id="data">${jsonBlock(data)}</script>`;
}

function usageLegend(rows: readonly UsageRow[]): Markup {
  return html`${rows.map(({ label }, index) => html`<li>${label} <span data-value="usage-${index}">–</span></li>`)}`;
}

function waitingLegend({ pending = 'outbox: events not yet published', waiting }: ChartTexts): Markup {
  const second = html`<li class="bad"><span class="stroke dashed"></span>${waiting} <span data-value="waiting">–</span></li>`;
  return html`<li class="good"><span class="stroke"></span>${pending} <span data-value="pending">–</span></li>
${waiting === undefined ? undefined : second}`;
}

/** Where the page's script draws, under its title and legend. */
function chart(title: string, id: string, legend?: Markup): Markup {
  return html`<div class="chart"><h3>${title}</h3>
${legend === undefined ? undefined : html`<ul class="legend">${legend}</ul>`}
<div id="${id}"></div></div>`;
}

function orderCharts({ outcomes, orders }: PageData): Markup {
  const marks = outcomes.map(
    ({ label, tone, glyph }) => html`<li><span class="word ${tone}">${GLYPHS[glyph]}</span> ${label}</li>`,
  );
  const bars = outcomes.map(
    ({ label }, kind) =>
      html`<li><canvas width="24" height="12" data-outcome="${kind}"></canvas>${label} <span data-value="responses-${kind}">–</span></li>`,
  );
  const lines = html`<li><span class="stroke dotted"></span>median <span data-value="p50">–</span></li>
<li><span class="stroke"></span>p95 <span data-value="p95">–</span></li>`;
  const latency = chart('Response time, by when the order was placed', 'latency', html`${marks}${lines}`);
  return html`${orders.placedMs.length > 0 ? latency : undefined}
    ${chart('Responses a second', 'throughput', html`${bars}`)}`;
}
