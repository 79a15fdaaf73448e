import { formatCount } from '../../../output/units.ts';
import { html, type Markup } from '../../../report/html.ts';
import { outcomeKey, outcomesOf } from '../../../report/order-outcome.ts';
import { GLYPHS, type OutcomeStyle } from '../../../report/page-data.ts';
import { clockText, durationText, traceId } from '../../../report/words.ts';
import type { OrderReport } from '../run-report.ts';

const LISTED = 500;

/** The first orders of every outcome, with the ids by which their traces and stories are found. */
export function ordersSection(orders: readonly OrderReport[]): Markup {
  const outcomes = outcomesOf(orders);
  const listed = firstOfEach(orders, LISTED);
  return html`<section aria-labelledby="orders-title" id="orders">
  <h2 id="orders-title">Orders</h2>
  ${orders.length === 0 ? html`<p>No order was placed.</p>` : orderTable(orders, listed, outcomes)}
</section>`;
}

type CountedOutcome = OutcomeStyle & { readonly count: number };

function orderTable(
  all: readonly OrderReport[],
  listed: readonly OrderReport[],
  outcomes: readonly CountedOutcome[],
): Markup {
  const indexOf = new Map(outcomes.map((one, index) => [keyOf(one), index]));
  const shown = Map.groupBy(listed, outcomeKey);
  const rows = listed.map((order) => orderRow(order, indexOf.get(outcomeKey(order)) ?? 0, outcomes));
  return html`<p>${listed.length === all.length ? `All ${formatCount(all.length)} orders.` : `The first orders of each outcome, ${formatCount(listed.length)} of ${formatCount(all.length)}; the journal has all.`}
"shopctl trace show TRACE" and "shopctl explain ORDER" show more about one.</p>
  <div class="toolbar">
    <label>outcome <select><option value="">all</option>${outcomes.map(
      (one, index) =>
        html`<option value="${index}">${one.label} (${formatCount(shown.get(keyOf(one))?.length ?? 0)} of ${formatCount(one.count)})</option>`,
    )}</select></label>
    <button type="button">Copy the trace ids shown</button>
    <span role="status"></span>
  </div>
  <div class="scroll"><table>
  <thead><tr><th scope="col">placed</th><th scope="col">outcome</th><th scope="col" class="number">took</th><th scope="col">step</th><th scope="col">order</th><th scope="col">trace</th></tr></thead>
  <tbody>${rows}</tbody>
</table></div>`;
}

function keyOf({ label, tone }: OutcomeStyle): string {
  return outcomeKey({ outcome: label, tone });
}

function orderRow(order: OrderReport, index: number, outcomes: readonly OutcomeStyle[]): Markup {
  const glyph = GLYPHS[outcomes[index]?.glyph ?? 0];
  return html`<tr data-outcome="${index}"><td>${clockText(order.placedMs)}</td>
<td><span class="word ${order.tone}">${glyph}</span> ${order.outcome}</td><td class="number">${durationText(order.tookMs)}</td>
<td>${order.step}</td><td><code>${order.orderId ?? '–'}</code></td><td>${order.traceId === undefined ? '–' : traceId(order.traceId)}</td></tr>
`;
}

/** At most `limit` orders, with as equal a share for every outcome as there are; in the order they were placed. */
function firstOfEach(orders: readonly OrderReport[], limit: number): readonly OrderReport[] {
  const groups = [...Map.groupBy(orders, outcomeKey).values()].sort((a, b) => a.length - b.length);
  const chosen = new Set<OrderReport>();
  groups.forEach((group, index) => {
    const share = Math.floor((limit - chosen.size) / (groups.length - index));
    for (const order of group.slice(0, share)) chosen.add(order);
  });
  return orders.filter((order) => chosen.has(order));
}
