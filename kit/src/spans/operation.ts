import { type Attributes, type Histogram, type Span, SpanStatusCode, trace } from '@opentelemetry/api';

/** Makes the spans of all doors and steps. */
export const tracer = trace.getTracer('shop');

const failed = { code: SpanStatusCode.ERROR } as const;

/** Something that a door does: its span, and its duration as a metric. It is over with the first call of `end` or `fail`. */
export class Operation {
  readonly span: Span;
  private readonly duration: Histogram;
  private readonly startedMs = performance.now();
  isOver = false;

  constructor(span: Span, duration: Histogram) {
    this.span = span;
    this.duration = duration;
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
    this.span.setAttribute('error.type', type).setStatus(message === undefined ? failed : { ...failed, message });
    this.end({ ...series, 'error.type': type });
  }
}

/** Code or name of a failure, as `error.type` wants it. */
export function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
