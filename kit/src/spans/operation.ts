import {
  type Attributes,
  type Context,
  type Histogram,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/** Makes the spans of all doors and steps. */
export const tracer = trace.getTracer('shop');

const failed = { code: SpanStatusCode.ERROR } as const;

/** How a door's span begins. */
export interface Beginning {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  /** The span's parent is the span of this context. */
  readonly parent: Context;
}

/** Something that a door does: its span, and its duration as a metric. It is over with the first call of `end` or `fail`. */
export class Operation {
  readonly span: Span;
  isOver = false;
  private readonly duration: Histogram;
  private readonly startedMs = performance.now();

  constructor({ name, kind, attributes, parent }: Beginning, duration: Histogram) {
    this.span = tracer.startSpan(name, { kind }, parent);
    this.duration = duration;
    this.describe(attributes);
  }

  /**
   * Adds attributes, whose values are strings and numbers. The SDK would copy and check them twice, each value with a
   * `WeakSet` of its own: most of what a span leaves to the garbage collector. They are put where its exporter reads them.
   */
  describe(attributes: Attributes): void {
    const recorded = (this.span as { readonly attributes?: Attributes }).attributes;
    if (recorded !== undefined && !this.isOver) Object.assign(recorded, attributes);
  }

  /** `series` are the attributes of the metric: few, and of few values. */
  end(series: Attributes): void {
    if (this.isOver) return;
    this.isOver = true;
    this.span.end();
    this.duration.record((performance.now() - this.startedMs) / 1_000, series);
  }

  /** Ends it as an error. `type` is the convention's `error.type`; `message` must not hold a customer's data. */
  fail(type: string, series: Attributes, message?: string): void {
    if (this.isOver) return;
    this.describe({ 'error.type': type });
    this.span.setStatus(message === undefined ? failed : { ...failed, message });
    this.end({ ...series, 'error.type': type });
  }
}

/** Code or name of a failure, as `error.type` wants it. */
export function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
