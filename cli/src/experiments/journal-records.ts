import type { InvariantResult } from '../audit/invariant.ts';
import type { FaultChange, FaultPhase } from '../chaos/fault-session.ts';
import type { Lease } from '../chaos/lease.ts';
import type { CheckVerdict, RunVerdict, Verdict } from '../shared/verdict.ts';

/** 2 since verdicts are `pass`, `fail` and `unknown`. */
export const JOURNAL_VERSION = 2;

/**
 * The journal of a run: `journal.jsonl`, one record a line, written as it happens. What reads it (reports, `chaos runs`)
 * knows only these types. Readers pass over record types and keys they do not know.
 */
export type JournalRecord =
  | RunRecord
  | PhaseRecord
  | StepRecord
  | FaultRecord
  | WitnessRecord
  | OrderRecord
  | SampleRecord
  | EventRecord
  | ConditionRecord
  | AuditRecord
  | VerdictRecord;

export interface RecordTime {
  /** ISO time. */
  readonly at: string;
  /** Since the run began, by a monotonic clock. */
  readonly ms: number;
}

/** A record before the journal has put its times to it. */
export type NewRecord = JournalRecord extends infer R
  ? R extends RecordTime
    ? Omit<R, keyof RecordTime>
    : never
  : never;

export type PhaseName =
  | 'validate'
  | 'platform'
  | 'steady-before'
  | 'method'
  | 'revert'
  | 'recovery'
  | 'steady-after'
  | 'audit';

/** Part of a run an order was placed in. */
export type OrderPhase = FaultPhase;

/** First record. */
export interface RunRecord extends RecordTime {
  readonly type: 'run';
  readonly version: typeof JOURNAL_VERSION;
  readonly runId: string;
  /** The resolved file; see `ResolvedExperiment`. Reports use `id`, `title`, `why`, `tags`. */
  readonly experiment: {
    readonly id: string;
    readonly title: string;
    readonly why?: string;
    readonly tags?: readonly string[];
    readonly [key: string]: unknown;
  };
  /** As given, relative to the clone where it is inside. */
  readonly file: string;
  readonly seed: number;
  readonly project: string;
  /** Versions. */
  readonly shopctl: string;
  readonly node: string;
  readonly seededBugs: readonly string[];
}

export interface PhaseRecord extends RecordTime {
  readonly type: 'phase';
  readonly phase: PhaseName;
  readonly state: 'begin' | 'end';
  readonly verdict?: Verdict;
}

export interface StepRecord extends RecordTime {
  readonly type: 'step';
  readonly phase: PhaseName;
  /** Position in its phase, from 0. */
  readonly index: number;
  readonly name: string;
  readonly kind: 'action' | 'probe' | 'hold';
  /** `orders`, `fault`, `trace`, ...; `hold` for a hold. */
  readonly provider: string;
  readonly state: 'begin' | 'end';
  /** The following are of the end. */
  readonly verdict?: Verdict;
  /** For people, one line each. */
  readonly expected?: string;
  readonly observed?: string;
  /** May have several lines (a tree's differences). */
  readonly evidence?: string;
  readonly attempts?: number;
  readonly tookMs?: number;
  readonly traceIds?: readonly string[];
}

export interface FaultRecord extends RecordTime {
  readonly type: 'fault';
  /** Name of the step that injected it. */
  readonly step: string;
  readonly state: FaultChange['state'];
  readonly lease: Pick<Lease, 'id' | 'fault' | 'kind' | 'target' | 'parameters' | 'ttlMs' | 'status' | 'since'>;
  readonly evidence?: string;
  readonly tookMs?: number;
}

export interface WitnessRecord extends RecordTime {
  readonly type: 'witness';
  readonly step: string;
  readonly leaseId: string;
  readonly verdict: 'observed' | 'not_observed' | 'pending' | 'unmeasurable';
  readonly evidence: string;
}

export interface OrderRecord extends RecordTime {
  readonly type: 'order';
  /** Number of the request in this run, from 1; its `invoke` and its end have the same. */
  readonly op: number;
  readonly step: string;
  readonly phase: OrderPhase;
  /** `ok`: decided. `fail`: surely not placed. `info`: may or may not have happened. */
  readonly state: 'invoke' | 'ok' | 'fail' | 'info';
  readonly key?: string;
  readonly product?: number;
  readonly quantity?: number;
  /** The following are of the end. HTTP status; left out when there was no response. */
  readonly http?: number;
  readonly orderId?: string;
  readonly status?: string;
  /** Of a cancelled order. */
  readonly reason?: string;
  /** Of a problem; without a response the transport's: `timeout`, `ECONNREFUSED`. */
  readonly code?: string;
  readonly traceId?: string;
  readonly tookMs?: number;
}

/** What is left out could not be read in that second. */
export interface SampleRecord extends RecordTime {
  readonly type: 'sample';
  readonly values: {
    /** Rows of the outbox that are not published. */
    readonly pending?: number;
    /** Sagas whose compensations wait. */
    readonly waiting?: number;
    /** Sagas that run now, over all instances. */
    readonly activeSagas?: number;
    /** Orders of this run without a response yet. */
    readonly inFlight: number;
    /** Responses of the last second, and their times, ms. */
    readonly perSecond: number;
    readonly p50?: number;
    readonly p95?: number;
    /** 0 closed, 1 half open, 2 open. */
    readonly breakers?: Readonly<Record<string, number>>;
    /** Ready instances by service. */
    readonly ready?: Readonly<Record<string, number>>;
  };
  /** Why values are missing. */
  readonly gap?: string;
}

/** Something noticed: a breaker's transition, a process's exit, an interruption. */
export interface EventRecord extends RecordTime {
  readonly type: 'event';
  /** `breaker.open`, `process.exit`, `interrupted`, ... */
  readonly event: string;
  readonly edge?: string;
  readonly target?: string;
  readonly count?: number;
  /** For people. */
  readonly details?: string;
}

export interface ConditionRecord extends RecordTime {
  readonly type: 'reach' | 'never';
  /** As written in the file, or as added by the engine. */
  readonly condition: { readonly event: string; readonly [key: string]: unknown };
  readonly verdict: Verdict;
  /** Undefined when it could not be counted. */
  readonly count?: number;
  readonly evidence: string;
}

export interface AuditRecord extends RecordTime {
  readonly type: 'audit';
  readonly verdict: Verdict;
  readonly orders: number;
  readonly tookMs: number;
  readonly invariants: readonly AuditedInvariant[];
}

export interface AuditedInvariant extends InvariantResult {
  /** By what the experiment accepts or expects. */
  readonly verdict: Verdict;
  /** The audit's own. */
  readonly audited: CheckVerdict;
  /** Why they differ: `accepted`, `expected to fail`. */
  readonly rule?: string;
}

/** Times in ms since the run began; left out when it did not happen. */
export interface Clocks {
  /** First fault. */
  readonly injectedMs?: number;
  /** First fault seen in effect. */
  readonly witnessedMs?: number;
  /** First order under a fault whose response was not Confirmed, or took longer than any before. */
  readonly firstSymptomMs?: number;
  /** Last fault reverted. */
  readonly revertedMs?: number;
  /** The steady state held again. */
  readonly steadyMs?: number;
  /** Nothing was in flight any more: no open saga, outbox 0, queue 0. */
  readonly drainedMs?: number;
}

/** Last record; a journal without one was interrupted by a kill. */
export interface VerdictRecord extends RecordTime {
  readonly type: 'verdict';
  readonly verdict: RunVerdict;
  readonly exitCode: number;
  /** Most important first; empty for `pass`. */
  readonly reasons: readonly string[];
  readonly clocks: Clocks;
  readonly tookMs: number;
}
