import { type Attributes, type Histogram, metrics, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { SpanProcessor } from './conventions.ts';

type EndedSpan = Parameters<SpanProcessor['onEnd']>[0];

/** Bounds in s that the conventions advise for durations of calls. */
const DURATION_BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

interface DurationMetric {
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly string[];
  matches(span: EndedSpan): boolean;
}

const RPC_ATTRIBUTES = ['rpc.system.name', 'rpc.method', 'rpc.response.status_code', 'error.type'];
const MESSAGING_ATTRIBUTES = [
  'messaging.system',
  'messaging.destination.name',
  'messaging.operation.name',
  'error.type',
];

/** RED metrics that the gRPC and AMQP instrumentations do not record themselves (semantic conventions 1.44). */
const DURATION_METRICS: readonly DurationMetric[] = [
  {
    name: 'rpc.server.call.duration',
    description: 'Duration of incoming gRPC calls.',
    attributes: RPC_ATTRIBUTES,
    matches: (span) => span.kind === SpanKind.SERVER && span.attributes['rpc.system.name'] === 'grpc',
  },
  {
    name: 'rpc.client.call.duration',
    description: 'Duration of outgoing gRPC calls.',
    attributes: RPC_ATTRIBUTES,
    matches: (span) => span.kind === SpanKind.CLIENT && span.attributes['rpc.system.name'] === 'grpc',
  },
  {
    name: 'messaging.client.operation.duration',
    description: 'Duration of publishing, up to the confirm.',
    attributes: MESSAGING_ATTRIBUTES,
    matches: (span) => span.kind === SpanKind.PRODUCER,
  },
  {
    name: 'messaging.process.duration',
    description: 'Duration of processing a delivery, up to its acknowledgement.',
    attributes: MESSAGING_ATTRIBUTES,
    matches: (span) => span.kind === SpanKind.CONSUMER,
  },
];

/** Records the metrics above from spans when they end; a metric appears with its first span. */
export function createDurationProcessor(): SpanProcessor {
  const histograms = new Map<string, Histogram>();
  return {
    onStart() {},
    onEnd(span) {
      const metric = DURATION_METRICS.find(({ matches }) => matches(span));
      if (metric === undefined) return;
      const histogram = histograms.get(metric.name) ?? createHistogram(metric);
      histograms.set(metric.name, histogram);
      histogram.record(span.duration[0] + span.duration[1] / 1e9, attributesOf(span, metric));
    },
    async forceFlush() {},
    async shutdown() {},
  };
}

function createHistogram({ name, description }: DurationMetric): Histogram {
  const advice = { explicitBucketBoundaries: DURATION_BOUNDS_S };
  return metrics.getMeter('Shop.Telemetry').createHistogram(name, { description, unit: 's', advice });
}

/** `_OTHER` is the conventions' word for a failure that has no type of its own (a delivery that was refused). */
function attributesOf(span: EndedSpan, metric: DurationMetric): Attributes {
  const attributes: Attributes = span.status.code === SpanStatusCode.ERROR ? { 'error.type': '_OTHER' } : {};
  for (const name of metric.attributes) {
    if (span.attributes[name] !== undefined) attributes[name] = span.attributes[name];
  }
  return attributes;
}
