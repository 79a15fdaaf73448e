import { type Attributes, ROOT_CONTEXT, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { seeTelemetry } from '@shop/kit/spans/testing.ts';
import { expect, it } from 'vitest';
import { createDurationProcessor } from './durations.ts';

const telemetry = seeTelemetry();
const tracer = new TracerProvider({ spanProcessors: [createDurationProcessor()] }).getTracer('test');

function end(kind: SpanKind, attributes: Attributes, failed = false): void {
  const span = tracer.startSpan('span', { kind, attributes }, ROOT_CONTEXT);
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

it.each([
  ['rpc.server.call.duration', SpanKind.SERVER, { 'rpc.system.name': 'grpc', 'rpc.method': 'stock.Inventory/Reserve' }],
  ['rpc.client.call.duration', SpanKind.CLIENT, { 'rpc.system.name': 'grpc', 'server.address': '127.0.0.1' }],
  ['messaging.client.operation.duration', SpanKind.PRODUCER, { 'messaging.system': 'rabbitmq' }],
  ['messaging.process.duration', SpanKind.CONSUMER, { 'messaging.operation.name': 'deliver' }],
] as const)('%s is recorded from a span that ends, with few of its attributes', async (name, kind, series) => {
  end(kind, { ...series, 'messaging.message.id': 'm1', 'network.peer.port': 1 });
  end(kind, series, true);
  expect(await telemetry.durations(name)).toEqual([
    { attributes: series, count: 1 },
    { attributes: { ...series, 'error.type': '_OTHER' }, count: 1 },
  ]);
});

it('an HTTP or SQL span has its duration from its own instrumentation', async () => {
  end(SpanKind.CLIENT, { 'db.system.name': 'postgresql' });
  end(SpanKind.SERVER, { 'http.request.method': 'GET' });
  expect(await telemetry.durations('rpc.client.call.duration')).toHaveLength(2);
});
