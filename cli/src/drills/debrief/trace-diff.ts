import { compareTrace } from '../../trace/compare.ts';
import type { ExpectedSpan } from '../../trace/contract.ts';
import { buildTree, type TraceNode, type TraceSpan } from '../../trace/tree.ts';
import type { ExemplarSpan, RecordOf } from '../journal/records.ts';

/** One line of two traces beside each other. */
export interface TraceRow {
  readonly mark: 'same' | 'slower' | 'missing' | 'extra' | 'different';
  readonly depth: number;
  readonly service: string;
  readonly name: string;
  /** Undefined where the trace does not have it, ms. */
  readonly beforeMs?: number;
  readonly duringMs?: number;
  readonly isError: boolean;
}

/** The traces of two orders: from before the failure, and of one that it changed. */
export interface TraceDiff {
  readonly before: Omit<RecordOf<'exemplar'>, 'spans'>;
  readonly during: Omit<RecordOf<'exemplar'>, 'spans'>;
  readonly rows: readonly TraceRow[];
}

/** A span is slower with this factor and this difference, ms: below them two healthy orders differ. */
const SLOWER = { factor: 3, atLeastMs: 20 };

/** Undefined without both traces. Pure. */
export function traceDiffOf(exemplars: readonly RecordOf<'exemplar'>[]): TraceDiff | undefined {
  const before = exemplars.find(({ when }) => when === 'before');
  const during = exemplars.find(({ when }) => when === 'during');
  const root = before && buildTree(before.spans.map(toSpan)).roots[0];
  if (before === undefined || during === undefined || root === undefined) return undefined;
  const { spans: _, ...one } = before;
  const { spans: __, ...other } = during;
  return { before: one, during: other, rows: rowsOf(root, during.spans.map(toSpan)) };
}

function rowsOf(root: TraceNode, spans: readonly TraceSpan[]): readonly TraceRow[] {
  const origins = new Map<ExpectedSpan, TraceSpan>();
  const expected = expectedOf(root, origins);
  const { matches, extras, faults } = compareTrace(expected, buildTree(spans));
  const differing = new Set(faults.map((fault) => fault.expected));
  const extrasByParent = Map.groupBy(extras, ({ parent }) => parent);

  const ofExpected = (span: ExpectedSpan, depth: number): readonly TraceRow[] => {
    const found = matches.get(span);
    const beforeMs = tookMs(origins.get(span));
    const duringMs = tookMs(found?.span);
    const row = {
      mark: found === undefined ? 'missing' : differing.has(span) ? 'different' : markOf(beforeMs, duringMs),
      depth,
      service: span.service,
      name: span.name,
      ...(beforeMs !== undefined && { beforeMs }),
      ...(duringMs !== undefined && { duringMs }),
      isError: found?.span.error ?? false,
    } as const;
    const more = found === undefined ? [] : (extrasByParent.get(found) ?? []);
    const below = span.children.flatMap((child) => ofExpected(child, depth + 1));
    return [row, ...below, ...more.flatMap((extra) => ofExtra(extra, depth + 1))];
  };
  // An extra span under an extra one is listed with it.
  const adrift = extras.filter(({ parent }) => parent === undefined);
  return [...ofExpected(expected, 0), ...adrift.flatMap((extra) => ofExtra(extra, 0))];

  function ofExtra({ span, children }: TraceNode, depth: number): readonly TraceRow[] {
    const { service, name, error } = span;
    const duringMs = tookMs(span);
    const row = {
      mark: 'extra',
      depth,
      service,
      name,
      ...(duringMs !== undefined && { duringMs }),
      isError: error,
    } as const;
    const below = children.filter((child) => extras.includes(child));
    return [row, ...below.flatMap((child) => ofExtra(child, depth + 1))];
  }
}

function markOf(beforeMs = 0, duringMs = 0): TraceRow['mark'] {
  const { factor, atLeastMs } = SLOWER;
  return duringMs > beforeMs * factor && duringMs - beforeMs >= atLeastMs ? 'slower' : 'same';
}

function expectedOf({ span, children }: TraceNode, origins: Map<ExpectedSpan, TraceSpan>): ExpectedSpan {
  const { service, name, kind, database, error } = span;
  const below = children.map((child) => expectedOf(child, origins));
  const expected = { service, name, kind, database, error, mayBeLost: false, children: below };
  origins.set(expected, span);
  return expected;
}

const NANOS = 1_000_000;

function toSpan({ id, parent, service, name, kind, database, error, fromMs, tookMs }: ExemplarSpan): TraceSpan {
  const nanos = (ms: number) => BigInt(Math.round(ms * NANOS));
  return {
    spanId: id,
    parentSpanId: parent,
    service,
    instance: service,
    pid: undefined,
    name,
    kind,
    database,
    error,
    statusMessage: undefined,
    startNanos: nanos(fromMs),
    endNanos: nanos(fromMs + tookMs),
    attributes: {},
  };
}

function tookMs(span: TraceSpan | undefined): number | undefined {
  return span && Number(span.endNanos - span.startNanos) / NANOS;
}
