import { AUDIT_HORIZON_DAYS } from '@shop/kit/keep-days.ts';
import { renderCheck } from '../output/check.ts';
import type { Style } from '../output/style.ts';
import { formatCount } from '../output/units.ts';
import { formatDuration } from '../shared/duration.ts';
import type { CheckResult } from '../shared/verdict.ts';
import type { AuditReport } from './audit.ts';
import type { InvariantResult, Violation } from './invariant.ts';

/** Violations listed as text; `--json` has all. */
const LISTED = 20;

/** One line an invariant, what is wrong under it, and a summary. */
export function renderAudit(report: AuditReport, style: Style): string {
  const lines = checksOf(report, style).map((check) => renderCheck(check, style, { groupWidth: 3 }));
  return [...lines, summaryOf(report, style)].join('\n');
}

/** The invariants in the form of every check. */
export function checksOf({ invariants }: AuditReport, style: Style): readonly CheckResult[] {
  return invariants.map((result) => checkOf(result, style));
}

function checkOf(
  { id, title, verdict, evidence, inFlight, violations, preExisting = [] }: InvariantResult,
  style: Style,
): CheckResult {
  const before = violationLines(preExisting.map((one) => ({ ...one, detail: `${one.detail} (pre-existing)` })));
  const details = [...violationLines(violations), ...before.map(style.dim)].join('\n');
  return {
    group: id,
    name: title,
    verdict,
    evidence: `${evidence}${inFlight > 0 ? `, ${formatCount(inFlight)} in flight` : ''}`,
    ...(details !== '' && { details }),
  };
}

/** The first of them and how many more there are. */
function violationLines(violations: readonly Violation[]): string[] {
  const lines = violations
    .slice(0, LISTED)
    .map(({ kind, orderId, detail }) => `  ${kind.padEnd(10)} ${orderId === undefined ? '' : `${orderId}  `}${detail}`);
  const more = violations.length - lines.length;
  return more > 0 ? [...lines, `  and ${formatCount(more)} more (all with --json)`] : lines;
}

function summaryOf(
  { verdict, orders, beyondHorizon, settled, waitingFor, tookMs, invariants }: AuditReport,
  style: Style,
): string {
  const inFlight = invariants.reduce((sum, result) => sum + result.inFlight, 0);
  const unsettled = settled ? '' : `; not settled: ${waitingFor}`;
  const older =
    beyondHorizon > 0
      ? `, ${formatCount(beyondHorizon)} placed more than ${AUDIT_HORIZON_DAYS} days ago and not compared`
      : '';
  const scope = `${formatCount(orders)} orders in ${formatDuration(tookMs)}${older}${unsettled}`;
  if (verdict === 'pass' && inFlight > 0)
    return `${style.yellow('the ledger balances so far')}, ${formatCount(inFlight)} in flight: ${scope}`;
  if (verdict === 'pass') return `${style.green('the ledger balances')}: ${scope}`;
  if (verdict === 'fail') return `${style.red('the ledger does not balance')}: ${scope}`;
  return `${style.yellow('whether the ledger balances is unknown')}, evidence is missing: ${scope}`;
}
