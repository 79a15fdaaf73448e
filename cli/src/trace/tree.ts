import { type AttributeMap, type OtlpSpan, plainAttributes, sourceOf, type TracesData } from '../otlp/otlp-json.ts';
import type { SpanKind } from './contract.ts';

/** A recorded span, as the contract and the views need it. */
export interface TraceSpan {
  readonly spanId: string;
  /** Undefined for a root. */
  readonly parentSpanId: string | undefined;
  readonly service: string;
  readonly instance: string;
  readonly pid: number | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** `db.namespace` of an SQL span. */
  readonly database: string | undefined;
  readonly error: boolean;
  readonly statusMessage: string | undefined;
  /** ns since 1970. */
  readonly startNanos: bigint;
  readonly endNanos: bigint;
  readonly attributes: AttributeMap;
}

/** A span with what hangs under it, in order of start. */
export interface TraceNode {
  readonly span: TraceSpan;
  readonly children: readonly TraceNode[];
  readonly parent: TraceNode | undefined;
  /** The span names a parent that is not in the trace. */
  readonly orphan: boolean;
}

export interface TraceTree {
  /**
   * Spans without a parent; where there is none, the first of those whose parent is not in the trace: the sender of the
   * request has continued its own trace.
   */
  readonly roots: readonly TraceNode[];
  /** The other spans whose parent is not in the trace: it is still open, was not exported, or was lost with its process. */
  readonly orphans: readonly TraceNode[];
}

const KINDS: readonly SpanKind[] = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'];

/** Spans of an OTLP or Jaeger response, each once, in order of start. */
export function readSpans(data: TracesData): TraceSpan[] {
  const spans = new Map<string, TraceSpan>();
  for (const { resource, scopeSpans } of data.resourceSpans ?? []) {
    const source = sourceOf(plainAttributes(resource?.attributes));
    for (const span of (scopeSpans ?? []).flatMap(({ spans: list }) => list ?? [])) {
      const read = { ...readSpan(span), ...source };
      if (!spans.has(read.spanId)) spans.set(read.spanId, read);
    }
  }
  return [...spans.values()].sort((a, b) => compareBigInt(a.startNanos, b.startNanos));
}

function readSpan(span: OtlpSpan): Omit<TraceSpan, 'service' | 'instance' | 'pid'> {
  const attributes = plainAttributes(span.attributes);
  const database = attributes['db.system.name'] === undefined ? undefined : String(attributes['db.namespace']);
  const code = span.status?.code;
  return {
    spanId: hexId(span.spanId),
    parentSpanId: span.parentSpanId ? hexId(span.parentSpanId) : undefined,
    name: span.name,
    kind: readKind(span.kind),
    database,
    error: code === 2 || code === 'STATUS_CODE_ERROR',
    statusMessage: span.status?.message || undefined,
    startNanos: BigInt(span.startTimeUnixNano ?? 0),
    endNanos: BigInt(span.endTimeUnixNano ?? 0),
    attributes,
  };
}

/** JSON of protobuf writes bytes in base64, OTLP/JSON in hexadecimal; a span id has 12 characters in the former. */
function hexId(id: string): string {
  return id.length === 12 ? Buffer.from(id, 'base64').toString('hex') : id.toLowerCase();
}

function readKind(kind: number | string | undefined): SpanKind {
  if (typeof kind === 'number') return KINDS[kind] ?? 'internal';
  const word = String(kind ?? '')
    .replace('SPAN_KIND_', '')
    .toLowerCase();
  return KINDS.find((known) => known === word) ?? 'internal';
}

function compareBigInt(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Arranges spans, which are in order of start, by their parents. */
export function buildTree(spans: readonly TraceSpan[]): TraceTree {
  const present = new Set(spans.map(({ spanId }) => spanId));
  const byParent = Map.groupBy(spans, ({ parentSpanId }) => parentSpanId ?? '');
  const placed = new Set<string>();

  function nodeOf(span: TraceSpan, parent: TraceNode | undefined, orphan: boolean): TraceNode {
    placed.add(span.spanId);
    const children: TraceNode[] = [];
    const node: TraceNode = { span, children, parent, orphan };
    for (const child of byParent.get(span.spanId) ?? []) {
      if (!placed.has(child.spanId)) children.push(nodeOf(child, node, false));
    }
    return node;
  }

  const tops = spans.filter(({ parentSpanId }) => parentSpanId === undefined || !present.has(parentSpanId));
  // Not the first span of all: clocks of spans have milliseconds, in which a child that ends first may begin as well.
  const [root = tops[0]] = tops.filter(({ parentSpanId }) => parentSpanId === undefined);
  const isRoot = (span: TraceSpan) => span.parentSpanId === undefined || span === root;
  const tree = {
    roots: tops.filter(isRoot).map((span) => nodeOf(span, undefined, false)),
    orphans: tops.filter((span) => !isRoot(span)).map((span) => nodeOf(span, undefined, true)),
  };
  // What is left hangs in a circle of parents, which no tracer makes; it is shown rather than lost.
  for (const span of spans) if (!placed.has(span.spanId)) tree.orphans.push(nodeOf(span, undefined, true));
  return tree;
}

/** The node and all under it, parents first. */
function flattenNode(node: TraceNode): TraceNode[] {
  return [node, ...node.children.flatMap(flattenNode)];
}

/** All nodes of a trace. */
export function nodesOf({ roots, orphans }: TraceTree): TraceNode[] {
  return [...roots, ...orphans].flatMap(flattenNode);
}

/** Duration of a span in ms. */
export function durationMs({ startNanos, endNanos }: TraceSpan): number {
  return Number(endNanos - startNanos) / 1e6;
}
