import type { AuditedInvariant, AuditRecord } from '../../journal-records.ts';
import { html, type Markup } from '../html.ts';
import { violationText } from '../record-text.ts';
import { countText, durationText, outcomeWord } from '../words.ts';

/** Violations listed; the journal has all. */
const LISTED = 20;

/** What the auditor found in the five databases, the broker and the telemetry after the run. */
export function auditSection(audit: AuditRecord | undefined): Markup {
  return html`<section aria-labelledby="audit">
  <h2 id="audit">Audit of the ledger</h2>
  ${audit === undefined ? html`<p>The auditor did not run.</p>` : invariantTable(audit)}
</section>`;
}

function invariantTable({ verdict, orders, tookMs, invariants }: AuditRecord): Markup {
  return html`<div class="scroll"><table>
  <caption>The ledger: ${verdict}, ${countText(orders)} orders looked at in ${durationText(tookMs)}. The outcome is what the experiment makes of an invariant's verdict.</caption>
  <thead><tr><th scope="col">outcome</th><th scope="col">verdict</th><th scope="col">invariant</th><th scope="col">evidence</th></tr></thead>
  <tbody>${invariants.map(invariantRow)}</tbody>
</table></div>`;
}

function invariantRow(one: AuditedInvariant): Markup {
  const rule = one.rule === undefined ? '' : ` (${one.rule})`;
  const inFlight = one.inFlight > 0 ? `, ${countText(one.inFlight)} in flight` : '';
  return html`<tr><td>${outcomeWord(one.outcome)}</td><td>${one.verdict}${rule}</td>
<th scope="row">${one.id} ${one.title}</th><td>${one.evidence}${inFlight}${violationList(one)}</td></tr>`;
}

function violationList({ violations: own, preExisting = [] }: AuditedInvariant): Markup | undefined {
  const violations = [...own, ...preExisting.map((one) => ({ ...one, detail: `${one.detail} (pre-existing)` }))];
  if (violations.length === 0) return undefined;
  const more = violations.length - LISTED;
  return html`<ul>${violations.slice(0, LISTED).map((one) => html`<li>${violationText(one)}</li>`)}
${more > 0 ? html`<li>and ${countText(more)} more</li>` : undefined}</ul>`;
}
