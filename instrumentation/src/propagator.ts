import { type Context, defaultTextMapGetter, type TextMapGetter, type TextMapPropagator } from '@opentelemetry/api';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { decideSamplingHere, isDistrusted } from '@shop/kit/telemetry/sampling-decision.ts';

/**
 * W3C trace context and baggage. Of an untrusted client only the trace id and the parent are taken: no sampled flag, no
 * `tracestate`, no `baggage` (decision 0027).
 */
export function createPropagator(): TextMapPropagator {
  const traceContext = new W3CTraceContextPropagator();
  const all = new CompositePropagator({ propagators: [traceContext, new W3CBaggagePropagator()] });
  return {
    inject: (context, carrier, setter) => all.inject(context, carrier, setter),
    extract(context: Context, carrier: unknown, getter: TextMapGetter) {
      if (!isDistrusted(carrier)) return all.extract(context, carrier, getter);
      const traceparent = getter.get(carrier, 'traceparent');
      return decideSamplingHere(traceContext.extract(context, { traceparent }, defaultTextMapGetter));
    },
    fields: () => all.fields(),
  };
}
