import { formatCount } from '../output/units.ts';
import { worst } from '../shared/verdict.ts';
import { type AuditReport, audit } from './audit.ts';
import { type InvariantResult, type Violation, verdictOf } from './invariant.ts';
import type { ByStatus } from './invariants/metrics.ts';
import { readLostCounts } from './read-metrics.ts';
import type { AuditTarget } from './target.ts';

/** What was so before a run, and is not held against it: existing violations, whatever caused them. */
export interface Baseline {
  /** Decisions that earlier kills kept from being counted (see `readLostCounts`). */
  readonly lost: ByStatus;
  /** Only those with violations. */
  readonly violated: readonly Pick<InvariantResult, 'id' | 'title' | 'violations'>[];
}

/**
 * Audits before a run begins. Waits for nothing: what is in flight has its time by the invariants' own limits. Rejects
 * when the metrics cannot be read.
 */
export async function auditBaseline(target: AuditTarget, signal?: AbortSignal): Promise<Baseline> {
  const lost = await readLostCounts(target);
  const report = await audit({ target, settleMs: 0, lostBefore: lost, ...(signal && { signal }) });
  const violated = report.invariants.filter(({ verdict }) => verdict === 'fail');
  return { lost, violated: violated.map(({ id, title, violations }) => ({ id, title, violations })) };
}

/** `I4 money charged equals orders confirmed (2 violations)`; empty when everything balanced. */
export function describeBaseline({ violated }: Baseline): string {
  return violated.map(({ id, title, violations }) => `${id} ${title} (${plural(violations.length)})`).join(', ');
}

/** The report of an audit after the run, in which only what the run may have done is a violation. Pure. */
export function sinceBaseline(report: AuditReport, baseline: Baseline | undefined): AuditReport {
  if (baseline === undefined || baseline.violated.length === 0) return report;
  const invariants = report.invariants.map((result) => {
    const known = baseline.violated.find(({ id }) => id === result.id)?.violations;
    return known === undefined || result.verdict !== 'fail' ? result : without(result, known);
  });
  return { ...report, invariants, verdict: worst(invariants.map((result) => result.verdict)) };
}

/**
 * A violation is the one of before when it has the same subject. What is wrong of an order stays so, in whichever
 * words. A sum that is wrong by another amount now may have been changed by the run or go on drifting: that is unknown.
 */
function without(result: InvariantResult, known: readonly Violation[]): InvariantResult {
  const details = new Map(known.map((one) => [subjectOf(one), one.detail]));
  const wasThere = (one: Violation) => details.has(subjectOf(one)) && one.kind !== 'recovered';
  const isSame = (one: Violation) => one.orderId !== undefined || details.get(subjectOf(one)) === one.detail;
  const old = result.violations.filter(wasThere);
  const preExisting = old.filter(isSame);
  const changed = old.filter((one) => !isSame(one)).map(({ detail }) => `otherwise wrong than before: ${detail}`);
  const violations = result.violations.filter((one) => !wasThere(one));
  const missing = [...changed, ...(result.incomplete ? ['evidence is missing'] : [])];
  const there = preExisting.length > 0 ? [`${plural(preExisting.length)} from before`] : [];
  return {
    ...result,
    verdict: verdictOf(violations, missing),
    evidence: [result.evidence, ...there, ...missing].join(', '),
    violations,
    preExisting,
  };
}

function subjectOf({ orderId, subject, detail }: Violation): string {
  return orderId ?? subject ?? detail;
}

function plural(violations: number): string {
  return `${formatCount(violations)} violation${violations === 1 ? '' : 's'}`;
}
