/** Telemetry of a process at its receiver, over a real socket. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { context, metrics, propagation, trace } from '@opentelemetry/api';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { createLogger } from '../logger.ts';
import { inSpan } from '../tracing.ts';
import { publishLogSink } from './log-sink.ts';
import { startTelemetry } from './sdk.ts';
import { announceVersion } from './service-version.ts';
import { shutdownTelemetry } from './shutdown.ts';

const received = new Map<string, unknown[]>();
let receiver: Server;

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    received.set(request.url ?? '', [...(received.get(request.url ?? '') ?? []), await json(request)]);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`);
  vi.stubEnv('OTEL_SERVICE_NAME', 'orders');
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'service.instance.id=orders-2');
  vi.stubEnv('SHOP_TRACK', 'canary');
});

interface Point {
  readonly attributes?: readonly { readonly value: { readonly stringValue?: string } }[];
  readonly asInt?: number;
  readonly asDouble?: number;
}

interface Metric {
  readonly name: string;
  readonly sum?: { readonly dataPoints: readonly Point[] };
  readonly gauge?: { readonly dataPoints: readonly Point[] };
}

/** Values of a metric in an export request, each with its attribute `state` where it has one. */
function valuesIn(report: unknown, metric: string): readonly (readonly [state: string, value: number])[] {
  const { resourceMetrics } = report as { resourceMetrics: { scopeMetrics: { metrics: Metric[] }[] }[] };
  return resourceMetrics
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
    .filter(({ name }) => name === metric)
    .flatMap(({ sum, gauge }) => (sum ?? gauge)?.dataPoints ?? [])
    .map(({ attributes, asInt, asDouble }) => [attributes?.[0]?.value.stringValue ?? '', Number(asInt ?? asDouble)]);
}

afterEach(() => {
  received.clear();
  for (const api of [trace, metrics, propagation, context]) api.disable();
});

afterAll(() => {
  vi.unstubAllEnvs();
  receiver.closeAllConnections();
  receiver.close();
});

it('sends spans and what became of them, of the service and instance that the environment names, before it ends', async () => {
  startTelemetry(process.env);
  announceVersion('1.2.3');
  await inSpan('order saga', {}, async () => undefined);
  await shutdownTelemetry();
  const traces = JSON.stringify(received.get('/v1/traces'));
  expect(traces).toContain('"name":"order saga"');
  for (const attribute of ['service.name', 'service.instance.id', 'process.pid', 'process.creation.time'])
    expect(traces).toContain(attribute);
  expect(traces).toContain('"stringValue":"orders-2"');
  const measured = JSON.stringify(received.get('/v1/metrics'));
  expect(measured).toContain('"shop.telemetry.spans"');
  const release = [
    '{"key":"service.version","value":{"stringValue":"1.2.3"}}',
    '{"key":"shop.track","value":{"stringValue":"canary"}}',
  ];
  for (const attribute of release) for (const sent of [traces, measured]) expect(sent).toContain(attribute);
});

it('the last report is later than the last span, and says that it is the last', async () => {
  startTelemetry(process.env);
  announceVersion('1.2.3');
  trace.getTracer('shop').startSpan('order saga').end();
  await shutdownTelemetry();
  const last = received.get('/v1/metrics')?.at(-1);
  expect(Object.fromEntries(valuesIn(last, 'shop.telemetry.spans'))).toEqual({
    started: 1,
    ended: 1,
    exported: 1,
    dropped: 0,
  });
  expect(valuesIn(last, 'shop.telemetry.closed')).toEqual([['', 1]]);
});

it('a report of a process that goes on does not say that it is the last', async () => {
  startTelemetry(process.env);
  await vi.waitFor(() => expect(received.get('/v1/metrics')).toBeDefined(), { timeout: 5_000 });
  expect(valuesIn(received.get('/v1/metrics')?.at(0), 'shop.telemetry.closed')).toEqual([]);
  await shutdownTelemetry();
});

it.each([
  ['OTEL_TRACES_EXPORTER', '/v1/metrics'],
  ['OTEL_METRICS_EXPORTER', '/v1/traces'],
])('%s=none leaves only what goes to %s', async (variable, path) => {
  startTelemetry({ ...process.env, [variable]: 'none' });
  metrics.getMeter('shop').createCounter('shop.sagas').add(1);
  // Not by `inSpan`: the kit's tracer keeps the first provider that it meets.
  trace.getTracer('shop').startSpan('order saga').end();
  await shutdownTelemetry();
  expect([...received.keys()]).toEqual([path]);
});

it('OTEL_LOGS_EXPORTER=otlp sends log lines, and counts them; without it they are not sent', async () => {
  for (const sends of [true, false]) {
    startTelemetry({ ...process.env, OTEL_TRACES_EXPORTER: 'none', ...(sends && { OTEL_LOGS_EXPORTER: 'otlp' }) });
    createLogger({ service: 'orders', instance: 'orders-2', level: 'info' }).info({ port: 1 }, 'listening');
    await shutdownTelemetry();
    expect(received.has('/v1/logs')).toBe(sends);
    if (sends) {
      const sent = JSON.stringify(received.get('/v1/logs'));
      for (const part of ['"listening"', '"INFO"', 'service.instance.id', '"orders-2"', '"port"'])
        expect(sent).toContain(part);
      expect(JSON.stringify(received.get('/v1/metrics'))).toContain('"shop.telemetry.logs"');
    }
    publishLogSink(undefined);
    received.clear();
    for (const api of [trace, metrics, propagation, context]) api.disable();
  }
});

it.each([
  ['without a receiver', { OTEL_EXPORTER_OTLP_ENDPOINT: undefined }],
  ['without an exporter of traces', { OTEL_TRACES_EXPORTER: 'none' }],
])('%s traces have ids, which go to the next service, and nothing is sent', async (_, changed) => {
  startTelemetry({ ...process.env, OTEL_METRICS_EXPORTER: 'none', ...changed });
  const carrier: Record<string, string> = {};
  const span = trace.getTracer('shop').startSpan('order saga');
  propagation.inject(trace.setSpan(context.active(), span), carrier);
  span.end();
  await shutdownTelemetry();
  expect(carrier.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  expect([...received.keys()]).toEqual([]);
});

it('OTEL_SDK_DISABLED=true makes no ids, and passes those of a caller on', () => {
  startTelemetry({ ...process.env, OTEL_SDK_DISABLED: 'true' });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const carrier: Record<string, string> = {};
  const span = trace.getTracer('shop').startSpan('order saga');
  expect(span.spanContext().traceId).toMatch(/^0+$/);
  const ofCaller = propagation.extract(context.active(), { traceparent });
  propagation.inject(trace.setSpan(ofCaller, trace.getTracer('shop').startSpan('order saga', {}, ofCaller)), carrier);
  expect(carrier).toEqual({ traceparent });
});
