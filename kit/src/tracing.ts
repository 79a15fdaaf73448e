import {
  type Attributes,
  type Context,
  context,
  INVALID_TRACEID,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { isTracingSuppressed, suppressTracing } from '@opentelemetry/core';
import { recordError, safeMessage, startSpan, tracer } from './spans/operation.ts';
import { areLibrariesInstrumented } from './telemetry/instrumentation.ts';

/** An internal span that is open until `end`; an error marks it failed. */
export interface OpenSpan {
  readonly span: Span;
  /** Where its work runs: the span is the active one. */
  readonly context: Context;
  end(error?: unknown): void;
}

/** Begins an internal span below the span of `parent`. */
export function openSpan(name: string, attributes: Attributes, parent: Context): OpenSpan {
  const span = startSpan({ name, kind: SpanKind.INTERNAL, parent, attributes });
  return {
    span,
    context: trace.setSpan(parent, span),
    end(error) {
      if (error !== undefined) {
        recordError(span, error);
        failSpan(span, safeMessage(error));
      }
      span.end();
    },
  };
}

/** Runs `work` in an internal span that ends with it; a rejection marks the span failed and is passed on. */
export function inSpan<T>(name: string, attributes: Attributes, work: (span: Span) => Promise<T>): Promise<T> {
  const opened = openSpan(name, attributes, context.active());
  return context.with(opened.context, async () => {
    try {
      const result = await work(opened.span);
      opened.end();
      return result;
    } catch (error) {
      opened.end(error);
      throw error;
    }
  });
}

/** Runs `work` in a server span of a new trace, for input that never became a request. */
export function serverSpan<T>(name: string, work: (span: Span) => T): T {
  return tracer.startActiveSpan(name, { kind: SpanKind.SERVER, root: true }, (span) => {
    try {
      return work(span);
    } finally {
      span.end();
    }
  });
}

export function failSpan(span: Span, message: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** Runs `work` so that nothing in it is traced. */
export function untraced<T>(work: () => T): T {
  return context.with(suppressTracing(context.active()), work);
}

/**
 * Runs `work`, whose spans are made by hand in either mode. So an instrumented library makes none, records no duration,
 * and leaves the trace context of a message as it is.
 */
export function uninstrumented<T>(work: () => T): T {
  if (!areLibrariesInstrumented()) return work();
  return context.with(suppressTracing(trace.deleteSpan(context.active())), work);
}

/** `traceparent` of the active span (W3C Trace Context), undefined where there is none. */
export function currentTraceParent(): string | undefined {
  const active = context.active();
  const span = trace.getSpanContext(active);
  if (span === undefined || span.traceId === INVALID_TRACEID || isTracingSuppressed(active)) return undefined;
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`;
}

/** The context that a stored `traceparent` describes; a root context when it is absent or malformed. */
export function contextOf(traceParent: string | null | undefined): Context {
  if (!traceParent) return ROOT_CONTEXT;
  return propagation.extract(ROOT_CONTEXT, { traceparent: traceParent });
}

/** Trace id of the active span, undefined where nothing is recorded. */
export function currentTraceId(): string | undefined {
  const traceId = trace.getActiveSpan()?.spanContext().traceId;
  return traceId === undefined || /^0+$/.test(traceId) ? undefined : traceId;
}
