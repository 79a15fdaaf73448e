import { formatCount } from '../../../output/units.ts';
import { chartStack } from '../../../report/chart-stack.ts';
import { html, type Markup } from '../../../report/html.ts';
import type { PageData } from '../../../report/page-data.ts';
import { stackedTable } from '../../../report/parts.ts';
import { durationText } from '../../../report/words.ts';
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
  return html`<p class="muted">In ${formatCount(gaps.length)} of ${formatCount(samples.length)} seconds something could not be measured: ${reasons}</p>`;
}

const NUMBERS = ['orders', 'confirmed', 'cancelled', 'refused', 'unclear', 'p50', 'p95', 'slowest'];

function numbersTable({ orders }: RunReport): Markup | undefined {
  if (orders.length === 0) return undefined;
  return stackedTable({
    caption:
      'Orders by when they were placed: before, under and after the faults. Refused: the response was a problem and nothing was recorded; unclear: no response, or one that leaves it open.',
    columns: ['placed', ...NUMBERS],
    header: 'placed',
    numbers: NUMBERS,
    rows: phaseNumbers(orders).map(({ phase, orders: placed, byTone, p50Ms, p95Ms, maxMs }) => [
      phase,
      ...[placed, byTone.good, byTone.warn, byTone.bad, byTone.lost].map(formatCount),
      ...[p50Ms, p95Ms, maxMs].map(durationText),
    ]),
  });
}
