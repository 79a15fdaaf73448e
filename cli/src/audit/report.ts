import { AUDIT_HORIZON_DAYS } from '@shop/kit/keep-days.ts';
import type { Style } from '../output/style.ts';
import { formatDuration } from '../output/units.ts';
import type { AuditReport } from './audit.ts';
import { count, type InvariantResult, type Verdict, type Violation } from './invariant.ts';

/** Violations listed as text; `--json` has all. */
const LISTED = 20;

const MARKS: Readonly<Record<Verdict, { word: string; colour: 'green' | 'red' | 'yellow' | 'dim' }>> = {
  ok: { word: 'ok', colour: 'green' },
  violated: { word: 'FAIL', colour: 'red' },
  unknown: { word: 'unknown', colour: 'yellow' },
  skipped: { word: 'skipped', colour: 'dim' },
};

/** One line an invariant, what is wrong under it, and a summary. */
export function renderAudit(report: AuditReport, style: Style): string {
  return [...report.invariants.flatMap((result) => renderInvariant(result, style)), summaryOf(report, style)].join(
    '\n',
  );
}

function renderInvariant(result: InvariantResult, style: Style): string[] {
  const { word, colour } = MARKS[result.verdict];
  const inFlight = result.inFlight > 0 ? `, ${count(result.inFlight)} in flight` : '';
  const head = `${style[colour](word.padEnd(7))} ${result.id.padEnd(3)} ${result.title}: ${result.evidence}${inFlight}`;
  const { violations, preExisting = [] } = result;
  const before = violationLines(preExisting.map((one) => ({ ...one, detail: `${one.detail} (pre-existing)` })));
  return [head, ...violationLines(violations), ...before.map(style.dim)];
}

/** The first of them and how many more there are; indented. */
function violationLines(violations: readonly Violation[]): string[] {
  const lines = violations
    .slice(0, LISTED)
    .map(
      ({ kind, orderId, detail }) =>
        `          ${kind.padEnd(10)} ${orderId === undefined ? '' : `${orderId}  `}${detail}`,
    );
  const more = violations.length - lines.length;
  return more > 0 ? [...lines, `          and ${count(more)} more (all with --json)`] : lines;
}

function summaryOf(
  { verdict, orders, beyondHorizon, settled, waitingFor, tookMs, invariants }: AuditReport,
  style: Style,
): string {
  const inFlight = invariants.reduce((sum, result) => sum + result.inFlight, 0);
  const unsettled = settled ? '' : `; not settled: ${waitingFor}`;
  const older =
    beyondHorizon > 0
      ? `, ${count(beyondHorizon)} placed more than ${AUDIT_HORIZON_DAYS} days ago and not compared`
      : '';
  const scope = `${count(orders)} orders in ${formatDuration(tookMs)}${older}${unsettled}`;
  if (verdict === 'ok' && inFlight > 0)
    return `${style.yellow('the ledger balances so far')}, ${count(inFlight)} in flight: ${scope}`;
  if (verdict === 'ok') return `${style.green('the ledger balances')}: ${scope}`;
  if (verdict === 'violated') return `${style.red('the ledger does not balance')}: ${scope}`;
  return `${style.yellow('whether the ledger balances is unknown')}, evidence is missing: ${scope}`;
}
