import { html, jsonBlock, type Markup } from '../html.ts';
import { GLYPHS, type OutcomeStyle, type PageData, type UsageRow } from '../page-data.ts';
import { phaseNumbers } from '../phase-numbers.ts';
import type { RunReport } from '../run-report.ts';
import { countText, durationText } from '../words.ts';

const HINT =
  'Tinted bands between dashed lines are faults, solid lines are beginnings of phases. Point at a chart, or focus the charts ' +
  'and use the arrow keys (with Shift: 10 s). Drag or press + and - to zoom, Escape shows the whole run.';

/** The charts, all on one time axis, and the same in numbers. */
export function timelineSection(report: RunReport, data: PageData): Markup {
  return html`<section aria-labelledby="timeline">
  <h2 id="timeline">Timeline</h2>
  ${chartStack(data, {
    waiting: 'compensations waiting',
    notes: gapNote(report),
    ifNoBreakers: html`<p>No breaker state was measured.</p>`,
  })}
  ${numbersTable(report)}
</section>`;
}

export interface ChartTexts {
  /** What `waiting` counts. */
  readonly waiting: string;
  /** Below the charts of what is left to do. */
  readonly notes?: Markup | undefined;
  readonly ifNoBreakers?: Markup;
}

/** The charts' places with their legends, and the data that the page's script draws into them. */
export function chartStack(data: PageData, { waiting, notes, ifNoBreakers }: ChartTexts): Markup {
  const hasOrders = data.orders.placedMs.length > 0;
  return html`<p class="muted screen-only">${HINT}</p>
  <noscript><p>The charts need JavaScript; all of their numbers are also in the tables below.</p></noscript>
  <div class="toolbar"><button type="button" id="whole-run">Show the whole run</button></div>
  <div id="charts" tabindex="0" role="group" aria-label="Charts of the run; arrow keys move the cursor, which is read out">
    <p id="cursor" class="cursor-line" aria-live="polite"></p>
    ${chart('What happened', 'happenings')}
    ${hasOrders ? orderCharts(data.outcomes) : html`<p>No order was placed.</p>`}
    ${chart('Left to do', 'waiting', waitingLegend(waiting))}
    ${notes}
    ${data.usage.length > 0 ? chart('CPU in percent: all cores, and each process of one core', 'usage', usageLegend(data.usage)) : undefined}
    ${data.breakers.length > 0 ? chart('Circuit breakers', 'breakers') : ifNoBreakers}
  </div>
  <script type="application/json" id="data">${jsonBlock(data)}</script>`;
}

function usageLegend(rows: readonly UsageRow[]): Markup {
  return html`${rows.map(({ label }, index) => html`<li>${label} <span data-value="usage-${index}">–</span></li>`)}`;
}

function waitingLegend(waiting: string): Markup {
  return html`<li class="good"><span class="stroke"></span>outbox: events not yet published <span data-value="pending">–</span></li>
<li class="bad"><span class="stroke dashed"></span>${waiting} <span data-value="waiting">–</span></li>`;
}

/** Where the page's script draws, under its title and legend. */
function chart(title: string, id: string, legend?: Markup): Markup {
  return html`<div class="chart"><h3>${title}</h3>
${legend === undefined ? undefined : html`<ul class="legend">${legend}</ul>`}
<div id="${id}"></div></div>`;
}

/** A line that is broken off must not be read as 0. */
function gapNote({ samples }: RunReport): Markup | undefined {
  const gaps = samples.filter(({ gap }) => gap !== '');
  if (gaps.length === 0) return undefined;
  const reasons = [...new Set(gaps.map(({ gap }) => gap))].slice(0, 3).join('; ');
  return html`<p class="muted">In ${countText(gaps.length)} of ${countText(samples.length)} seconds something could not be measured: ${reasons}</p>`;
}

function orderCharts(outcomes: readonly OutcomeStyle[]): Markup {
  const marks = outcomes.map(
    ({ label, tone, glyph }) => html`<li><span class="word ${tone}">${GLYPHS[glyph]}</span> ${label}</li>`,
  );
  const bars = outcomes.map(
    ({ label }, kind) =>
      html`<li><canvas width="24" height="12" data-outcome="${kind}"></canvas>${label} <span data-value="responses-${kind}">–</span></li>`,
  );
  const lines = html`<li><span class="stroke dotted"></span>median <span data-value="p50">–</span></li>
<li><span class="stroke"></span>p95 <span data-value="p95">–</span></li>`;
  return html`${chart('Response time, by when the order was placed', 'latency', html`${marks}${lines}`)}
    ${chart('Responses a second', 'throughput', html`${bars}`)}`;
}

function numbersTable({ orders }: RunReport): Markup | undefined {
  if (orders.length === 0) return undefined;
  const rows = phaseNumbers(orders).map(
    ({ phase, orders: count, byTone, p50Ms, p95Ms, maxMs }) => html`<tr><th scope="row">${phase}</th>
${[count, byTone.good, byTone.warn, byTone.bad, byTone.lost].map((n) => html`<td class="number">${countText(n)}</td>`)}
${[p50Ms, p95Ms, maxMs].map((ms) => html`<td class="number">${durationText(ms)}</td>`)}</tr>`,
  );
  const names = ['orders', 'confirmed', 'cancelled', 'refused', 'unclear', 'p50', 'p95', 'slowest'];
  return html`<div class="scroll"><table>
  <caption>Orders by when they were placed: before, under and after the faults. Refused: the response was a problem and nothing was recorded; unclear: no response, or one that leaves it open.</caption>
  <thead><tr><th scope="col">placed</th>${names.map((name) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
  <tbody>${rows}</tbody>
</table></div>`;
}
