import { durationMs, nodesOf, type TraceTree } from '../trace/tree.ts';
import type { OrderEvidence } from './order-evidence.ts';
import { sagaSteps } from './saga-steps.ts';

/** Something on an order's time axis: a span of the trace, or a moment that a database recorded. */
export interface TimelineEntry {
  readonly kind: 'span' | 'moment';
  /** Service of a span, database of a moment. */
  readonly source: string;
  readonly name: string;
  /** ms since 1970; fractions for spans. */
  readonly startMs: number;
  /** 0 for a moment. */
  readonly durationMs: number;
  readonly error: boolean;
}

/** All that happened to an order in order of time; at the same millisecond a moment stands before spans. Pure. */
export function timelineOf(evidence: OrderEvidence, tree: TraceTree): TimelineEntry[] {
  const moments = sagaSteps(evidence).flatMap(({ name, at, result, from, detail }): TimelineEntry[] => {
    if (at === null) return [];
    const text = result === 'done' ? name : `${name}: ${detail}`;
    return [{ kind: 'moment', source: from, name: text, startMs: at.getTime(), durationMs: 0, error: false }];
  });
  const spans = nodesOf(tree).map(
    ({ span }): TimelineEntry => ({
      kind: 'span',
      source: span.service,
      name: span.name,
      startMs: Number(span.startNanos / 1000n) / 1000,
      durationMs: durationMs(span),
      error: span.error,
    }),
  );
  return [...moments, ...spans].sort((a, b) => a.startMs - b.startMs);
}
