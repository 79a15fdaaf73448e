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
import { messageOf } from './failures.ts';
import { startSpan, tracer } from './spans/operation.ts';

/** Runs `work` in an internal span that ends with it; a rejection marks the span failed and is passed on. */
export function inSpan<T>(name: string, attributes: Attributes, work: (span: Span) => Promise<T>): Promise<T> {
  const parent = context.active();
  const span = startSpan({ name, kind: SpanKind.INTERNAL, parent, attributes });
  return context.with(trace.setSpan(parent, span), async () => {
    try {
      return await work(span);
    } catch (error) {
      failSpan(span, messageOf(error));
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Runs `work` in a server span of a trace of its own, for what never became a request. */
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
