import {
  type Attributes,
  type Context,
  context,
  type Histogram,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { messageOf } from '../failures.ts';
import { areLibrariesInstrumented } from '../telemetry/instrumentation.ts';

/** Creates the spans of all servers, clients and steps. */
export const tracer = trace.getTracer('shop');

const failed = { code: SpanStatusCode.ERROR } as const;

/** Options of a span. */
export interface SpanOptions {
  readonly name: string;
  readonly kind: SpanKind;
  /** The span's parent is the span of this context. */
  readonly parent: Context;
  /** Strings and numbers. May be shared by many spans: it is never changed. */
  readonly attributes: Attributes;
}

/** Options of an operation: a span with a duration. */
export interface OperationOptions extends SpanOptions {
  /** Attributes of the metric: few, and of few values. */
  readonly series: Attributes;
}

export function startSpan({ name, kind, parent, attributes }: SpanOptions): Span {
  return tracer.startSpan(name, { kind, attributes }, parent);
}

/**
 * The active context with its span: the parent of a client's span. Undefined without one, as in polls, which are not traced,
 * and where the client's library is instrumented.
 */
export function activeParent(): Context | undefined {
  if (areLibrariesInstrumented()) return undefined;
  const active = context.active();
  return trace.getSpan(active) === undefined ? undefined : active;
}

/** One operation of a server or client: its span, and its duration as a metric. The first end counts. */
export class Operation {
  readonly span: Span;
  private readonly parent: Context;
  private readonly duration: Pick<Histogram, 'record'>;
  private readonly startedMs = performance.now();
  private series: Attributes;
  private isOver = false;
  private inside: Context | undefined;

  constructor(options: OperationOptions, duration: Pick<Histogram, 'record'>) {
    this.span = startSpan(options);
    this.parent = options.parent;
    this.series = options.series;
    this.duration = duration;
  }

  /** Where the operation's work runs: its span is the active one. */
  get context(): Context {
    this.inside ??= trace.setSpan(this.parent, this.span);
    return this.inside;
  }

  /** Adds attributes to the span. */
  describe(attributes: Attributes): void {
    if (!this.isOver) this.span.setAttributes(attributes);
  }

  /** Adds attributes to the span and to the metric. */
  classify(attributes: Attributes): void {
    this.describe(attributes);
    this.series = { ...this.series, ...attributes };
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.span.end();
    this.duration.record((performance.now() - this.startedMs) / 1_000, this.series);
  }

  /** Ends it as an error. `type` is the convention's `error.type`; `message` must not hold a customer's data. */
  endWithError(type: string, message?: string): void {
    if (this.isOver) return;
    this.classify({ 'error.type': type });
    this.span.setStatus(message === undefined ? failed : { ...failed, message });
    this.end();
  }

  /** Ends it as an error of the error's own code or name. */
  fail(error: unknown): void {
    this.record(error);
    this.endWithError(typeOf(error), safeMessage(error));
  }

  /** Adds the exception event. */
  protected record(error: unknown, message?: string): void {
    if (!this.isOver) recordError(this.span, error, message);
  }
}

/** Of an error of PostgreSQL's server its code: its message may quote values. */
export function safeMessage(error: unknown): string {
  const isServers = error instanceof Error && 'severity' in error && 'code' in error;
  return isServers ? `PostgreSQL error ${error.code}` : messageOf(error);
}

/** Adds the conventions' exception event: type, message and stack. */
export function recordError(span: Span, error: unknown, message = safeMessage(error)): void {
  if (!(error instanceof Error)) return;
  // The stack begins with the message; some have nothing else.
  const frames = /\n {4}at .*/s.exec(error.stack ?? '')?.[0] ?? '';
  span.recordException({ name: error.name, message, stack: `${error.name}: ${message}${frames}` });
}

/** Code or name of a failure, for `error.type`. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Attributes of a server's address. */
export function serverOf({ hostname, port }: URL, defaultPort: number): Attributes {
  return { 'server.address': hostname, 'server.port': Number(port || defaultPort) };
}
