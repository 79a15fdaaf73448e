import type { SpanKind } from '../../trace/contract.ts';
import type { Mechanism, Scope } from '../format/vocabulary.ts';
import type { Envelope } from '../seal/envelope.ts';

export const JOURNAL_VERSION = 'shop.drill-journal/v1';

/** How well a round is kept from its trainee. */
export type Strength = 'practice' | 'sealed' | 'exam';

export type HintStage = 'detect' | 'locate' | 'mitigate';

/** Why a round ended. `void`: it proves nothing, and does not count. */
export type EndReason = 'fixed' | 'all-clear' | 'gave-up' | 'limit' | 'aborted' | 'void';

/** Something of the telemetry or the platform that a diagnosis names. */
export interface Evidence {
  /** `trace:4bf92f35`, `log:orders-1`, `alert:OutboxStalled`, `order:7c9e6679`, `change:1f2e3d4c` */
  readonly reference: string;
  /** When what it names happened, ms since the start. */
  readonly happenedMs: number;
  /** Processes that it is about, in the words of the vocabulary's components. */
  readonly touches: readonly string[];
}

/** One span of an order that shows what a failure changed. */
export interface ExemplarSpan {
  readonly id: string;
  readonly parent?: string;
  readonly service: string;
  readonly name: string;
  readonly kind: SpanKind;
  readonly database?: string;
  readonly error: boolean;
  /** Since the first span of its trace, ms. */
  readonly fromMs: number;
  readonly tookMs: number;
}

/** A record without what the journal adds. `ms`: since the start, by a monotonic clock. */
export type DrillEvent =
  | {
      readonly type: 'start';
      readonly version: typeof JOURNAL_VERSION;
      readonly rubric: 'v1';
      readonly commitment: string;
      readonly level: number;
      readonly strength: Strength;
      /** The seed was on the command line: practice that counts in no average. */
      readonly isSeedKnown: boolean;
      readonly limitMs: number;
      readonly hints: boolean;
      readonly trainee: string;
    }
  /** The platform before anything happens: it serves, and no alert fires. */
  | { readonly type: 'baseline'; readonly served: number; readonly failed: number }
  /** One second of the drill's own load: the same fields whatever the scenario is. */
  | {
      readonly type: 'second';
      readonly sent: number;
      /** Responses that came, by whether they are what this order has to have. */
      readonly good: number;
      readonly failed: number;
      /** Refused because an operator sheds orders; left out where there are none. */
      readonly shed?: number;
      /** Of the good ones. */
      readonly slow: number;
      /** Confirmed orders whose shipment is overdue. */
      readonly overdue: number;
    }
  | { readonly type: 'page'; readonly alert: string; readonly state: 'firing' | 'escalated' | 'resolved' }
  | { readonly type: 'ack'; readonly alert: string; readonly by: string }
  | { readonly type: 'declare'; readonly text: string; readonly by: string }
  | { readonly type: 'note' | 'update'; readonly text: string; readonly by: string }
  | {
      readonly type: 'blame';
      readonly component: string;
      readonly mechanism: Mechanism;
      readonly scope: Scope;
      readonly evidence: readonly Evidence[];
      readonly by: string;
    }
  | { readonly type: 'hint'; readonly stage: HintStage }
  /** A line of the change log, made by an operator, once it was done. */
  | {
      readonly type: 'action';
      readonly change: string;
      readonly target: string;
      readonly from: string | null;
      readonly to: string | null;
      readonly by: string;
      readonly failed?: string;
      /** When it was begun, of one that takes a while. */
      readonly beganMs?: number;
    }
  /** The trainee asked a source: logs, traces, metrics, status, changes, orders, ops. */
  | { readonly type: 'look'; readonly source: string }
  /** A look at what keeps the failure, in Toxiproxy or in `chaos`. */
  | { readonly type: 'peek'; readonly where: string }
  | { readonly type: 'fixed'; readonly by: string }
  /** An order placed to prove that customers are served. */
  | { readonly type: 'proof'; readonly status: string; readonly spans: number; readonly expectedSpans: number }
  | { readonly type: 'all-clear'; readonly by: string }
  | {
      readonly type: 'audit';
      readonly lost: number;
      readonly doubled: number;
    }
  | { readonly type: 'end'; readonly why: EndReason; readonly reason: string }
  | { readonly type: 'reveal'; readonly envelope: Envelope }
  /** Withheld until the reveal; `happenedMs` is when it happened. */
  | {
      readonly type: 'injected';
      readonly index: number;
      /** When it was done: a release or a stop takes seconds, and acts before. */
      readonly happenedMs: number;
      /** When it was begun. */
      readonly beganMs?: number;
    }
  /** The scenario's metric, where it has one: its value by the number of the second's record. */
  | { readonly type: 'measured'; readonly values: readonly (readonly [second: number, value: number])[] }
  | { readonly type: 'witnessed'; readonly index: number; readonly evidence: string; readonly happenedMs: number }
  | { readonly type: 'reverted'; readonly index: number; readonly why: string; readonly happenedMs: number }
  | {
      readonly type: 'decoy';
      readonly do: string;
      readonly target: string;
      readonly happenedMs: number;
    }
  /** The trace of a customer's order, as it was some seconds after its response. Withheld as well. */
  | {
      readonly type: 'exemplar';
      readonly when: 'before' | 'during';
      readonly traceId: string;
      /** `Confirmed`, `Cancelled: payment unavailable`, or the code of a problem. */
      readonly outcome: string;
      readonly spans: readonly ExemplarSpan[];
      readonly happenedMs: number;
    }
  /** The last line, so that a loss of lines at the end is noticed. */
  | { readonly type: 'closed'; readonly records: number };

/** One line of a journal. */
export type DrillRecord = DrillEvent & {
  /** From 1, without a gap. */
  readonly seq: number;
  readonly ms: number;
  /** ISO time, UTC. */
  readonly at: string;
  /** SHA-256 of the line before and this one; see `chain.ts`. */
  readonly hash: string;
};

export type RecordOf<Type extends DrillEvent['type']> = Extract<DrillRecord, { readonly type: Type }>;

/** The records of one type, in their order. */
export function recordsOf<Type extends DrillEvent['type']>(
  records: readonly DrillRecord[],
  type: Type,
): readonly RecordOf<Type>[] {
  return records.filter((record): record is RecordOf<Type> => record.type === type);
}
