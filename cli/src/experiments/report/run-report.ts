import type { TimedOrder } from '../../report/order-outcome.ts';
import type { TimedEvent, TimedFault, TimedPhase, TimedSample, TimedStep } from '../../report/timeline.ts';
import type { RunVerdict, Verdict } from '../../shared/verdict.ts';
import type { AuditRecord, Clocks } from '../journal-records.ts';

/** `none`: the journal ends without one. */
export type ReportedVerdict = RunVerdict | 'none';

/** A run as its journal records it. Times in ms since the run began. */
export interface RunReport {
  readonly runId: string;
  readonly experiment: ExperimentReport;
  readonly project: string;
  readonly seed: number | undefined;
  readonly seededBugs: readonly string[];
  readonly file: string;
  readonly versions: string;
  readonly startedAt: Date | undefined;
  readonly verdict: ReportedVerdict;
  readonly reasons: readonly string[];
  readonly exitCode: number | undefined;
  /** Time of the last record. */
  readonly endMs: number;
  readonly clocks: Clocks;
  readonly phases: readonly TimedPhase[];
  readonly steps: readonly StepReport[];
  readonly faults: readonly FaultReport[];
  readonly orders: readonly OrderReport[];
  readonly samples: readonly SampleReport[];
  readonly events: readonly TimedEvent[];
  readonly conditions: readonly ConditionReport[];
  readonly audit: AuditRecord | undefined;
}

export interface ExperimentReport {
  readonly id: string;
  readonly title: string;
  readonly why: string;
  readonly tags: readonly string[];
}

export interface OrderReport extends TimedOrder {
  readonly op: number;
  readonly step: string;
  readonly phase: string;
  readonly orderId: string | undefined;
  readonly traceId: string | undefined;
}

export interface StepReport extends TimedStep {
  readonly phase: string;
  readonly kind: string;
  readonly provider: string;
  readonly expected: string;
  readonly observed: string;
  readonly evidence: string;
  readonly attempts: number | undefined;
  readonly traceIds: readonly string[];
}

export interface FaultReport extends TimedFault {
  readonly step: string;
  readonly leaseId: string;
  readonly parameters: string;
  readonly revertEvidence: string;
  readonly notReverted: boolean;
  readonly witness: { readonly verdict: string; readonly evidence: string; readonly ms: number } | undefined;
}

export interface SampleReport extends TimedSample {
  /** Why values are missing; empty when none is. */
  readonly gap: string;
}

/** Of `reach` and `never`. */
export interface ConditionReport {
  readonly kind: 'reach' | 'never';
  readonly condition: string;
  readonly verdict: Verdict;
  readonly count: number | undefined;
  readonly evidence: string;
}

/** What the verdict means, in one sentence. */
export const VERDICT_WORDS: Readonly<Record<ReportedVerdict, string>> = {
  pass: 'Every check passed, and every injected fault was observed in effect.',
  fail: 'The system did not behave as the experiment expects.',
  unknown: 'Evidence is missing, so nothing can be concluded. This is not a pass.',
  dirty: 'A fault or change of the run could not be reverted. Run "shopctl chaos clear --all".',
  interrupted: 'The run was stopped before its end, and every fault was reverted.',
  none: 'The journal ends without a verdict: the run was killed, or it is still going on. Nothing can be concluded.',
};

/** How long it took until clients noticed the fault, until the system was steady again, and until nothing was left to do. */
export function spansOf({ injectedMs, firstSymptomMs, revertedMs, steadyMs, drainedMs }: Clocks) {
  return {
    degradeMs: difference(injectedMs, firstSymptomMs),
    recoverMs: difference(revertedMs, steadyMs),
    drainMs: difference(revertedMs, drainedMs),
  };
}

function difference(from: number | undefined, to: number | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : to - from;
}
