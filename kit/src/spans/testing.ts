import { type Attributes, context, metrics, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { type Histogram, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterAll, beforeEach } from 'vitest';
import { samplerOf } from '../telemetry/sampler.ts';

/** A caller's trace, sampled. */
export const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
export const CALLER = `00-${TRACE_ID}-b7ad6b7169203331-01`;

class Reader extends MetricReader {
  protected override async onShutdown() {}
  protected override async onForceFlush() {}
}

/** Spans and metrics of a test's process. */
export interface SeenTelemetry {
  spans(): readonly ReadableSpan[];
  /** The series of a duration: their attributes, and how often each was recorded. */
  durations(name: string): Promise<readonly { attributes: Attributes; count: number }[]>;
  /** What the series of a counter or gauge are now. */
  values(name: string): Promise<readonly { attributes: Attributes; value: number }[]>;
  /** Runs `work` in a span that is a parent, and gives that. */
  inParent<T>(work: () => T): T;
}

/** Starts telemetry that stays in memory, for the tests of a file; spans are forgotten before each. */
export function seeTelemetry(): SeenTelemetry {
  const exporter = new InMemorySpanExporter();
  const reader = new Reader();
  const tracers = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    sampler: samplerOf({}),
  });
  // While the file is loaded, because servers are opened in hooks, too.
  trace.setGlobalTracerProvider(tracers);
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const pointsOf = async (name: string) => {
    const { resourceMetrics } = await reader.collect();
    return resourceMetrics.scopeMetrics
      .flatMap(({ metrics: list }) => list)
      .filter(({ descriptor }) => descriptor.name === name)
      .flatMap(({ dataPoints }): { attributes: Attributes; value: unknown }[] => dataPoints);
  };
  beforeEach(() => exporter.reset());
  afterAll(() => {
    for (const api of [trace, metrics, propagation, context]) api.disable();
  });
  return {
    spans: () => exporter.getFinishedSpans(),
    async durations(name) {
      const points = await pointsOf(name);
      return points.map(({ attributes, value }) => ({ attributes, count: (value as Histogram).count }));
    },
    async values(name) {
      const points = await pointsOf(name);
      return points.map(({ attributes, value }) => ({ attributes, value: value as number }));
    },
    inParent: (work) => tracers.getTracer('test').startActiveSpan('parent', work),
  };
}

/** What a contract says of a span: name, kind, attributes, and its status as a word. */
export function seen({ name, kind, attributes, status }: ReadableSpan) {
  return { name, kind, attributes, error: status.code === SpanStatusCode.ERROR };
}
