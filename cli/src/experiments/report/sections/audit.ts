import type { AuditReport } from '../../../audit/audit.ts';
import type { InvariantResult } from '../../../audit/invariant.ts';
import type { AuditedInvariant } from '../../journal-records.ts';
import { html, type Markup } from '../html.ts';
import { violationText } from '../record-text.ts';
import { countText, durationText, verdictWord } from '../words.ts';

/** Violations listed; the journal has all. */
const LISTED = 20;

type ShownInvariant = InvariantResult & Partial<Pick<AuditedInvariant, 'audited' | 'rule'>>;

/** An audit; `audited` is the audit's own verdict where an experiment may accept or expect another than `pass`. */
export interface ShownAudit extends Pick<AuditReport, 'verdict' | 'orders' | 'tookMs'> {
  readonly invariants: readonly ShownInvariant[];
}

/** What the auditor found in the five databases, the broker and the telemetry after the run. */
export function auditSection(audit: ShownAudit | undefined): Markup {
  return html`<section aria-labelledby="audit">
  <h2 id="audit">Audit of the ledger</h2>
  ${audit === undefined ? html`<p>The auditor did not run.</p>` : invariantTable(audit)}
</section>`;
}

function invariantTable({ verdict, orders, tookMs, invariants }: ShownAudit): Markup {
  return html`<div class="scroll"><table class="stacks">
  <caption>The ledger: ${verdict}, ${countText(orders)} orders checked in ${durationText(tookMs)}. The verdict of an invariant is the audit's, unless an experiment accepts or expects another.</caption>
  <thead><tr><th scope="col">verdict</th><th scope="col">audit</th><th scope="col">invariant</th><th scope="col">evidence</th></tr></thead>
  <tbody>${invariants.map(invariantRow)}</tbody>
</table></div>`;
}

function invariantRow(one: ShownInvariant): Markup {
  const rule = one.rule === undefined ? '' : ` (${one.rule})`;
  const inFlight = one.inFlight > 0 ? `, ${countText(one.inFlight)} in flight` : '';
  return html`<tr><td data-column="verdict">${verdictWord(one.verdict)}</td><td data-column="audit">${one.audited ?? one.verdict}${rule}</td>
<th scope="row">${one.id} ${one.title}</th><td data-column="evidence">${one.evidence}${inFlight}${violationList(one)}</td></tr>`;
}

function violationList({ violations: own, preExisting = [] }: ShownInvariant): Markup | undefined {
  const violations = [...own, ...preExisting.map((one) => ({ ...one, detail: `${one.detail} (pre-existing)` }))];
  if (violations.length === 0) return undefined;
  const more = violations.length - LISTED;
  return html`<ul>${violations.slice(0, LISTED).map((one) => html`<li>${violationText(one)}</li>`)}
${more > 0 ? html`<li>and ${countText(more)} more</li>` : undefined}</ul>`;
}
