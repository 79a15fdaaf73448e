import { chartStack } from '../../../report/chart-stack.ts';
import { html, type Markup } from '../../../report/html.ts';
import type { PageData } from '../../../report/page-data.ts';
import { countText, durationText } from '../../../report/words.ts';
import { phaseNumbers } from '../phase-numbers.ts';
import type { RunReport } from '../run-report.ts';

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

/** A line that is broken off must not be read as 0. */
function gapNote({ samples }: RunReport): Markup | undefined {
  const gaps = samples.filter(({ gap }) => gap !== '');
  if (gaps.length === 0) return undefined;
  const reasons = [...new Set(gaps.map(({ gap }) => gap))].slice(0, 3).join('; ');
  return html`<p class="muted">In ${countText(gaps.length)} of ${countText(samples.length)} seconds something could not be measured: ${reasons}</p>`;
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
