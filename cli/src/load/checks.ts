import type { AuditReport } from '../audit/audit.ts';
import { formatCount } from '../output/units.ts';
import { type CheckResult, type RunVerdict, type Verdict, worst } from '../shared/verdict.ts';
import type { K6Summary, Threshold } from './k6-summary.ts';
import type { Knee } from './knee.ts';
import type { Drain } from './outbox.ts';
import type { SampledTrace } from './trace-sample.ts';

/** One check of a run. */
export interface LoadCheck extends CheckResult<Verdict> {
  readonly group: 'k6' | 'threshold' | 'knee' | 'fault' | 'outbox' | 'audit' | 'trace' | 'memory';
}

/** k6's exit code when a threshold was crossed, which the summary has in detail (errext/exitcodes of k6). */
const THRESHOLDS_CROSSED = 99;

export interface K6End {
  readonly exitCode: number;
  /** Why there is none, as a text. */
  readonly summary: K6Summary | string;
  /** The command ended it because it had seen enough. */
  readonly stoppedEarly: boolean;
  /** The last lines of its log. */
  readonly messages: string;
  /** Orders with a record. */
  readonly orders: number;
}

/** Whether k6 did what it was asked for, and each threshold separately. */
export function checkK6({ exitCode, summary, stoppedEarly, messages, orders }: K6End): readonly LoadCheck[] {
  const check = { group: 'k6', name: 'k6 ran to its end' } as const;
  const ended = `k6 ended with ${exitCode}`;
  const log = messages === '' ? '' : `: ${messages}`;
  if (typeof summary === 'string')
    return [{ ...check, verdict: 'unknown', evidence: `${ended} and left no summary (${summary})${log}` }];
  if (exitCode !== 0 && exitCode !== THRESHOLDS_CROSSED && !stoppedEarly)
    return [{ ...check, verdict: 'unknown', evidence: `${ended}${log}` }, ...checkThresholds(summary)];
  if (orders === 0) return [{ ...check, verdict: 'unknown', evidence: `no order was sent${log}` }];
  const how = stoppedEarly
    ? 'ended early, the system was saturated'
    : `${formatCount(orders)} requests, ${formatCount(summary.dropped)} dropped`;
  return [{ ...check, verdict: 'pass', evidence: how }, ...checkThresholds(summary)];
}

/** In the order of their names, which keeps those of a phase together; k6 has none. */
function checkThresholds({ thresholds }: K6Summary): readonly LoadCheck[] {
  const nameOf = ({ metric }: Threshold) => metric.split('{').reverse().join(' ');
  return thresholds
    .toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))
    .map(({ metric, condition, isMet, observed }) => ({
      group: 'threshold',
      name: `${metric} ${condition}`,
      verdict: isMet ? 'pass' : 'fail',
      evidence: observed,
    }));
}

/** A ramp whose first step does not hold has found nothing out about a limit: the system is not well. */
export function checkKnee(knee: Knee): LoadCheck {
  const { sustainedPerSecond, saturatedAtPerSecond, because, p95Ms } = knee;
  const check = { group: 'knee', name: 'the first step of the ramp holds' } as const;
  if (sustainedPerSecond === null) return { ...check, verdict: 'fail', evidence: because ?? 'nothing was measured' };
  const held = `${sustainedPerSecond} orders a second held (p95 ${Math.round(p95Ms ?? 0)} ms)`;
  const limit = saturatedAtPerSecond === null ? 'no step did not' : `${saturatedAtPerSecond} did not: ${because}`;
  return { ...check, verdict: 'pass', evidence: `${held}, ${limit}` };
}

/** A text: why it could not be seen. */
export function checkDrain(drain: Drain | string): LoadCheck {
  const check = { group: 'outbox', name: 'everything is published and every saga ends' } as const;
  if (typeof drain === 'string') return { ...check, verdict: 'unknown', evidence: drain };
  const { tookMs, last } = drain;
  if (tookMs !== undefined) return { ...check, verdict: 'pass', evidence: `${tookMs} ms after the load` };
  return {
    ...check,
    verdict: 'fail',
    evidence: `${formatCount(last.pending)} events and ${formatCount(last.open)} sagas still waited`,
  };
}

/** A text: why there was none. */
export function checkAudit(report: AuditReport | string): readonly LoadCheck[] {
  if (typeof report === 'string') return [{ group: 'audit', name: 'audit', verdict: 'unknown', evidence: report }];
  return report.invariants.flatMap(({ id, title, verdict, evidence, violations: [first] }): LoadCheck[] => {
    if (verdict === 'skipped') return [];
    const seen = first === undefined ? evidence : `${evidence} (${first.kind}: ${first.detail})`;
    return [{ group: 'audit', name: `${id} ${title}`, verdict, evidence: seen }];
  });
}

/** What was asked of the sample of traces. */
export interface TracesAsked {
  readonly wanted: number;
  /** The load was ended before its end because the system was saturated: the rest of the sample had no time to come. */
  readonly stoppedEarly: boolean;
}

/** Traces that were asked for and not found to look at are missing evidence. */
export function checkTraces(
  traces: readonly SampledTrace[],
  { wanted, stoppedEarly }: TracesAsked,
): readonly LoadCheck[] {
  const least = stoppedEarly ? Math.min(1, wanted) : wanted;
  const checked = traces.map(
    ({ orderId, contract, verdict, explanation, traceId }): LoadCheck => ({
      group: 'trace',
      name: `${contract} order ${orderId}`,
      verdict,
      evidence: `${explanation} (trace ${traceId})`,
    }),
  );
  if (traces.length >= least) return checked;
  const evidence = `${traces.length} of ${wanted}: no other order has a contract and was quick enough to be looked at`;
  return [...checked, { group: 'trace', name: 'sampled traces', verdict: 'unknown', evidence }];
}

/** A text: why they could not be looked at. */
export function checkKeys(repeated: readonly string[] | string): LoadCheck {
  const check = { group: 'audit', name: 'one order per Idempotency-Key' } as const;
  if (typeof repeated === 'string') return { ...check, verdict: 'unknown', evidence: repeated };
  if (repeated.length === 0) return { ...check, verdict: 'pass', evidence: 'no key has two orders' };
  const evidence = `${repeated.length} keys have several: ${repeated.slice(0, 3).join(', ')}`;
  return { ...check, verdict: 'fail', evidence };
}

export type LoadVerdict = Exclude<RunVerdict, 'interrupted'>;

/** The worst check's, unless a fault is left. */
export function verdictOf(checks: readonly LoadCheck[], notReverted: readonly string[]): LoadVerdict {
  return notReverted.length > 0 ? 'dirty' : worst(checks.map(({ verdict }) => verdict));
}
