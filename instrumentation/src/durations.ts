import { type Attributes, type Histogram, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { durationOf } from '@shop/kit/spans/durations.ts';
import type { SpanProcessor } from './conventions.ts';

type EndedSpan = Parameters<SpanProcessor['onEnd']>[0];

const RPC_ATTRIBUTES = [
  'rpc.system.name',
  'rpc.method',
  'rpc.response.status_code',
  'server.address',
  'server.port',
  'error.type',
];
const MESSAGING_ATTRIBUTES = [
  'messaging.system',
  'messaging.destination.name',
  'messaging.operation.name',
  'error.type',
];

interface DurationMetric {
  readonly name: Parameters<typeof durationOf>[0];
  readonly attributes: readonly string[];
  matches(span: EndedSpan): boolean;
}

const isGrpc = (span: EndedSpan) => span.attributes['rpc.system.name'] === 'grpc';

/** Durations that the gRPC and AMQP instrumentations do not record themselves. */
const DURATION_METRICS: readonly DurationMetric[] = [
  {
    name: 'rpc.server.call.duration',
    attributes: RPC_ATTRIBUTES,
    matches: (span) => span.kind === SpanKind.SERVER && isGrpc(span),
  },
  {
    name: 'rpc.client.call.duration',
    attributes: RPC_ATTRIBUTES,
    matches: (span) => span.kind === SpanKind.CLIENT && isGrpc(span),
  },
  {
    name: 'messaging.client.operation.duration',
    attributes: MESSAGING_ATTRIBUTES,
    matches: (span) => span.kind === SpanKind.PRODUCER,
  },
  {
    name: 'messaging.process.duration',
    attributes: MESSAGING_ATTRIBUTES,
    matches: (span) => span.kind === SpanKind.CONSUMER,
  },
];

/** Records these durations from spans when they end; a metric appears with its first span. */
export function createDurationProcessor(): SpanProcessor {
  const histograms = new Map<string, Histogram>();
  return {
    onStart() {},
    onEnd(span) {
      const metric = DURATION_METRICS.find(({ matches }) => matches(span));
      if (metric === undefined) return;
      const histogram = histograms.get(metric.name) ?? durationOf(metric.name);
      histograms.set(metric.name, histogram);
      histogram.record(span.duration[0] + span.duration[1] / 1e9, attributesOf(span, metric));
    },
    async forceFlush() {},
    async shutdown() {},
  };
}

/** `_OTHER` is the conventions' word for a failure that has no type of its own (a delivery that was refused). */
function attributesOf(span: EndedSpan, metric: DurationMetric): Attributes {
  const attributes: Attributes = span.status.code === SpanStatusCode.ERROR ? { 'error.type': '_OTHER' } : {};
  for (const name of metric.attributes) {
    if (span.attributes[name] !== undefined) attributes[name] = span.attributes[name];
  }
  return attributes;
}
