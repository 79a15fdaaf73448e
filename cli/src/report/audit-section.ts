import type { AuditReport } from '../audit/audit.ts';
import type { InvariantResult } from '../audit/invariant.ts';
import { formatCount } from '../output/units.ts';
import { html, type Markup } from './html.ts';
import { stackedTable } from './parts.ts';
import { durationText, verdictWord, violationText } from './words.ts';

/** Violations listed; the journal has all. */
const LISTED = 20;

interface ShownInvariant extends InvariantResult {
  /** The audit's own verdict, and the rule of an experiment that accepts or expects another. */
  readonly audited?: string;
  readonly rule?: string;
}

/** An audit as a report shows it. */
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
  return stackedTable({
    caption: `The ledger: ${verdict}, ${formatCount(orders)} orders checked in ${durationText(tookMs)}. The verdict of an invariant is the audit's, unless an experiment accepts or expects another.`,
    columns: ['verdict', 'audit', 'invariant', 'evidence'],
    header: 'invariant',
    rows: invariants.map((one) => [
      verdictWord(one.verdict),
      `${one.audited ?? one.verdict}${one.rule === undefined ? '' : ` (${one.rule})`}`,
      `${one.id} ${one.title}`,
      [one.evidence, one.inFlight > 0 ? `, ${formatCount(one.inFlight)} in flight` : '', violationList(one)],
    ]),
  });
}

function violationList({ violations: own, preExisting = [] }: ShownInvariant): Markup | undefined {
  const violations = [...own, ...preExisting.map((one) => ({ ...one, detail: `${one.detail} (pre-existing)` }))];
  if (violations.length === 0) return undefined;
  const more = violations.length - LISTED;
  return html`<ul>${violations.slice(0, LISTED).map((one) => html`<li>${violationText(one)}</li>`)}
${more > 0 ? html`<li>and ${formatCount(more)} more</li>` : undefined}</ul>`;
}
