/** What the page's charts are drawn from: embedded as JSON, so plain and compact. Times in ms since the run began. */
export interface PageData {
  readonly durationMs: number;
  readonly outcomes: readonly OutcomeStyle[];
  readonly orders: OrderColumns;
  readonly seconds: SecondColumns;
  /** Lanes of what happened: phases, steps, faults, events. */
  readonly happenings: readonly Lane[];
  /** One lane an edge. */
  readonly breakers: readonly Lane[];
  /** Drawn over every chart. */
  readonly faults: readonly Span[];
  /** Beginnings of phases, drawn as lines over every chart. */
  readonly phases: readonly Span[];
  /** CPU by process; empty where it was not measured. */
  readonly usage: readonly UsageRow[];
}

/** A row of the CPU chart. */
export interface UsageRow {
  readonly label: string;
  /** One entry a second; null where nothing was measured. */
  readonly percent: readonly (number | null)[];
}

/** Colour shows the class, the glyph which outcome of it, so that neither is needed to read the other. */
export interface OutcomeStyle {
  readonly label: string;
  readonly tone: OutcomeTone;
  /** Number within `GLYPHS`. */
  readonly glyph: number;
}

/** `good`: confirmed, `warn`: cancelled, `bad`: a problem as the response, `lost`: no clear response. */
export type OutcomeTone = 'good' | 'warn' | 'bad' | 'lost';

export const GLYPHS = ['●', '▲', '■', '◆', '✚', '✖'] as const;

/** One entry an order that ended, in the order in which they were placed. */
export interface OrderColumns {
  readonly placedMs: readonly number[];
  readonly tookMs: readonly number[];
  /** Index into `outcomes`. */
  readonly outcome: readonly number[];
}

/** One entry a second of the run; null where nothing was measured. */
export interface SecondColumns {
  /** Of the orders placed in that second. */
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
  /** Responses in that second, by outcome. */
  readonly responses: readonly (readonly number[])[];
  /** Events in the outbox. */
  readonly pending: readonly (number | null)[];
  /** Of an experiment compensations, of a load sagas that have not ended. */
  readonly waiting: readonly (number | null)[];
}

export interface Lane {
  readonly label: string;
  readonly spans: readonly Span[];
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly label: string;
  readonly tone: SpanTone;
}

export type SpanTone = 'plain' | 'good' | 'warn' | 'bad' | 'fault';
