import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createBackend } from '../trace/backend.ts';
import type { OtlpSpan } from './otlp-json.ts';
import { type OtlpReceiver, type ReceiverLimits, startOtlpReceiver } from './receiver.ts';

const TRACE = 'a'.repeat(32);
const closing: OtlpReceiver[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((receiver) => receiver.close()));
});

async function start(limits: Partial<ReceiverLimits> = {}, now = Date.now): Promise<OtlpReceiver> {
  const receiver = await startOtlpReceiver({ host: '127.0.0.1', port: 0, limits, now });
  closing.push(receiver);
  return receiver;
}

function resourceOf(service: string, pid = 1) {
  const attributes = [
    { key: 'service.name', value: { stringValue: service } },
    { key: 'service.instance.id', value: { stringValue: `${service}-1` } },
    { key: 'process.pid', value: { intValue: String(pid) } },
  ];
  return { attributes };
}

function aSpan(spanId: number, changes: Partial<OtlpSpan> = {}): OtlpSpan {
  return {
    traceId: TRACE,
    spanId: spanId.toString(16).padStart(16, '0'),
    name: 'POST /orders',
    kind: 2,
    startTimeUnixNano: '1700000000000000000',
    endTimeUnixNano: '1700000000005000000',
    attributes: [
      { key: 'http.route', value: { stringValue: '/orders' } },
      { key: 'http.response.status_code', value: { intValue: 201 } },
    ],
    status: { code: 0 },
    ...changes,
  };
}

function tracesOf(spans: readonly OtlpSpan[], service = 'orders') {
  return { resourceSpans: [{ resource: resourceOf(service), scopeSpans: [{ scope: { name: 'test' }, spans }] }] };
}

function metricsOf(value: number, { pid = 1, temporality = 2 } = {}) {
  const point = { asInt: String(value), timeUnixNano: '1700000000000000000', attributes: [] };
  const sum = { dataPoints: [point], isMonotonic: true, aggregationTemporality: temporality };
  const scopeMetrics = [{ scope: { name: 'Shop.Orders' }, metrics: [{ name: 'shop.sagas', sum }] }];
  return { resourceMetrics: [{ resource: resourceOf('orders', pid), scopeMetrics }] };
}

interface ExportResponse {
  readonly message?: string;
  readonly partialSuccess?: { readonly rejectedDataPoints?: number; readonly errorMessage: string };
}

async function post(receiver: OtlpReceiver, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${receiver.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body instanceof Uint8Array ? Buffer.from(body) : typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as ExportResponse };
}

async function get(receiver: OtlpReceiver, path: string) {
  const response = await fetch(`${receiver.url}${path}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('POST /v1/traces', () => {
  it('keeps spans, and gives them back as Jaeger does', async () => {
    const receiver = await start();
    expect(await post(receiver, '/v1/traces', tracesOf([aSpan(1)]))).toEqual({ status: 200, body: {} });
    const { status, body } = await get(receiver, `/api/v3/traces/${TRACE}`);
    expect(status).toBe(200);
    const sent = { ...aSpan(1).attributes?.[1], value: { intValue: '201' } };
    expect(body).toEqual({
      result: {
        resourceSpans: [
          {
            resource: resourceOf('orders'),
            scopeSpans: [
              {
                scope: { name: 'test', version: '' },
                spans: [{ ...aSpan(1), attributes: [aSpan(1).attributes?.[0], sent] }],
              },
            ],
          },
        ],
      },
    });
  });

  it('responds 404 for an unknown trace as Jaeger does', async () => {
    const { status, body } = await get(await start(), `/api/v3/traces/${TRACE}`);
    expect([status, body]).toEqual([404, { error: { httpCode: 404, message: 'No traces found' } }]);
  });

  it('adds late spans to their trace and drops a span that comes twice', async () => {
    const receiver = await start();
    await post(receiver, '/v1/traces', tracesOf([aSpan(1)]));
    await post(receiver, '/v1/traces', tracesOf([aSpan(1), aSpan(2, { parentSpanId: aSpan(1).spanId })], 'stock'));
    const { spans } = await createBackend(receiver.url).trace(TRACE);
    expect(spans.map(({ service, parentSpanId }) => [service, parentSpanId])).toEqual([
      ['orders', undefined],
      ['stock', aSpan(1).spanId],
    ]);
    expect(receiver.traces.stats()).toMatchObject({ spans: 2, duplicateSpans: 1 });
  });

  it('takes gzip', async () => {
    const receiver = await start();
    const body = gzipSync(JSON.stringify(tracesOf([aSpan(1)])));
    expect((await post(receiver, '/v1/traces', body, { 'content-encoding': 'gzip' })).status).toBe(200);
    expect(receiver.traces.stats().spans).toBe(1);
  });

  it('refuses protobuf and says what to set', async () => {
    const { status, body } = await post(await start(), '/v1/traces', 'x', { 'content-type': 'application/x-protobuf' });
    expect(status).toBe(415);
    expect(body.message).toContain('OTEL_EXPORTER_OTLP_PROTOCOL=http/json');
  });

  it.each([
    ['a body above the limit', 413, 'x'.repeat(2_000), {}],
    ['a small body that inflates above the limit', 413, gzipSync('x'.repeat(2_000)), { 'content-encoding': 'gzip' }],
    ['what is not JSON', 400, '{', {}],
    ['JSON that is not an object', 400, '7', {}],
    ['what is not gzip', 400, '{}', { 'content-encoding': 'gzip' }],
  ])('refuses %s and goes on', async (_, expected, body, headers) => {
    const receiver = await start({ maxBodyBytes: 1_000 });
    expect((await post(receiver, '/v1/traces', body, headers as Record<string, string>)).status).toBe(expected);
    expect((await post(receiver, '/v1/traces', tracesOf([]))).status).toBe(200);
  });

  it('refuses spans with malformed ids and keeps the others', async () => {
    const receiver = await start();
    const { body } = await post(receiver, '/v1/traces', tracesOf([aSpan(1), aSpan(2, { traceId: '../../etc' })]));
    expect(body).toMatchObject({ partialSuccess: { rejectedSpans: 1 } });
    expect(receiver.traces.stats()).toMatchObject({ spans: 1, invalidSpans: 1 });
  });

  it('evicts the oldest traces beyond its memory, remembers that it did, and lets no late span bring them back', async () => {
    const receiver = await start({ maxTraceBytes: 20_000 });
    for (let index = 1; index <= 100; index++) {
      await post(receiver, '/v1/traces', tracesOf([aSpan(index, { traceId: index.toString(16).padStart(32, '0') })]));
    }
    const { traces, bytes, evictedTraces } = receiver.traces.stats();
    expect(bytes).toBeLessThanOrEqual(20_000);
    expect(traces + evictedTraces).toBe(100);
    expect(evictedTraces).toBeGreaterThan(0);
    const first = '1'.padStart(32, '0');
    await post(receiver, '/v1/traces', tracesOf([aSpan(7, { traceId: first })]));
    expect(await createBackend(receiver.url).trace(first)).toEqual({
      spans: [],
      incomplete: 'the trace was evicted to make room for newer ones',
    });
    const newest = (100).toString(16).padStart(32, '0');
    expect((await createBackend(receiver.url).trace(newest)).spans).toHaveLength(1);
  });

  it('says of a trace that may be what is left of a forgotten one that it may not be whole', async () => {
    const receiver = await start({ maxTraceBytes: 20_000, maxEvictions: 10 });
    const idOf = (index: number) => index.toString(16).padStart(32, '0');
    for (let index = 1; index <= 100; index++) {
      await post(receiver, '/v1/traces', tracesOf([aSpan(index, { traceId: idOf(index) })]));
    }
    expect(receiver.traces.wasEvicted(idOf(1))).toBe(false);
    const later = String(BigInt(Date.now() + 60_000) * 1_000_000n);
    const late = { traceId: idOf(1), parentSpanId: '1'.repeat(16), startTimeUnixNano: later };
    const root = { traceId: idOf(200), startTimeUnixNano: later };
    await post(receiver, '/v1/traces', tracesOf([aSpan(7, late), aSpan(200, root)]));
    const found = await createBackend(receiver.url).trace(idOf(1));
    expect(found).toMatchObject({ incomplete: 'it may be the rest of a trace that was evicted long ago' });
    expect(found.spans).toHaveLength(1);
    expect(await createBackend(receiver.url).trace(idOf(200))).toMatchObject({ incomplete: undefined });
  });

  it('keeps a limited number of spans of one trace and says that there were more', async () => {
    const receiver = await start({ maxSpansPerTrace: 2 });
    await post(receiver, '/v1/traces', tracesOf([aSpan(1), aSpan(2), aSpan(3)]));
    const trace = await createBackend(receiver.url).trace(TRACE);
    expect(trace.spans).toHaveLength(2);
    expect(trace.incomplete).toContain('1 spans beyond');
  });

  it('lists services and finds their newest traces', async () => {
    const receiver = await start();
    await post(receiver, '/v1/traces', tracesOf([aSpan(1)]));
    await post(receiver, '/v1/traces', tracesOf([aSpan(2, { traceId: 'b'.repeat(32) })], 'stock'));
    expect((await get(receiver, '/api/v3/services')).body).toEqual({ services: ['orders', 'stock'] });
    const { body } = await get(receiver, '/api/v3/traces?query.service_name=stock');
    expect(JSON.stringify(body)).toContain('b'.repeat(32));
    expect(JSON.stringify(body)).not.toContain(TRACE);
  });
});

describe('POST /v1/metrics', () => {
  it('keeps the latest value of each process, and marks the last one of a process that is gone', async () => {
    let now = 1_000_000;
    const receiver = await start({ staleAfterMs: 3_000 }, () => now);
    await post(receiver, '/v1/metrics', metricsOf(5));
    now += 10_000;
    await post(receiver, '/v1/metrics', metricsOf(1, { pid: 2 }));
    await post(receiver, '/v1/metrics', metricsOf(2, { pid: 2 }));
    const points = await createBackend(receiver.url).metrics(['shop.sagas']);
    expect(points.map(({ pid, stale, ...point }) => [pid, 'value' in point && point.value, stale])).toEqual([
      [1, 5, true],
      [2, 2, false],
    ]);
    expect(await createBackend(receiver.url).metrics(['shop.other'])).toEqual([]);
  });

  it('offers them to Prometheus in its text format', async () => {
    const receiver = await start();
    await post(receiver, '/v1/metrics', metricsOf(3));
    const response = await fetch(`${receiver.url}/metrics`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await response.text()).toMatch(/^shop_sagas_total\{instance="orders-1",job="orders",.*\} 3$/m);
  });

  it('refuses delta values and says what to set', async () => {
    const { body } = await post(await start(), '/v1/metrics', metricsOf(5, { temporality: 1 }));
    expect(body.partialSuccess).toMatchObject({ rejectedDataPoints: 1 });
    expect(body.partialSuccess?.errorMessage).toContain('cumulative');
  });

  it('bounds series and processes, and counts what it leaves out', async () => {
    const receiver = await start({ maxSeries: 2, maxInstances: 2, maxEndedInstances: 0 });
    for (const pid of [1, 2, 3]) await post(receiver, '/v1/metrics', metricsOf(pid, { pid }));
    expect(receiver.metrics.stats()).toMatchObject({ instances: 2, refusedSeries: 1, forgottenInstances: 1 });
  });

  it('keeps lasting values of processes that it has no room for, and adds to them when they report again', async () => {
    const receiver = await start({ maxInstances: 1, maxEndedInstances: 2 });
    const values = () => {
      const points = receiver.metrics.points({ names: ['shop.sagas'] }, Date.now());
      return points.map((point) => [point.pid, point.type === 'histogram' ? point.count : point.value]);
    };
    for (const pid of [1, 2, 3]) await post(receiver, '/v1/metrics', metricsOf(pid * 10, { pid }));
    expect(values()).toEqual([
      [1, 10],
      [2, 20],
      [3, 30],
    ]);
    expect(receiver.metrics.reports().map(({ source }) => source.pid)).toEqual([3]);
    await post(receiver, '/v1/metrics', metricsOf(11, { pid: 1 }));
    expect(values()).toEqual([
      [2, 20],
      [3, 30],
      [1, 11],
    ]);
    expect(receiver.metrics.stats()).toMatchObject({ instances: 1, series: 3, forgottenInstances: 0 });
    await post(receiver, '/v1/metrics', metricsOf(40, { pid: 4 }));
    expect(receiver.metrics.stats()).toMatchObject({ series: 3, forgottenInstances: 1 });
  });

  it('keeps no other series of processes that it has no room for', async () => {
    const receiver = await start({ maxInstances: 1, lastingNames: new Set() });
    for (const pid of [1, 2]) await post(receiver, '/v1/metrics', metricsOf(pid, { pid }));
    expect(receiver.metrics.points({}, Date.now()).map(({ pid }) => pid)).toEqual([2]);
    expect(receiver.metrics.stats()).toMatchObject({ instances: 1, series: 1 });
  });
});

describe('logs', () => {
  const line = (message: string) =>
    JSON.stringify({
      level: 'info',
      time: '2026-01-01T00:00:00.000Z',
      service: 'orders',
      trace_id: TRACE,
      msg: message,
    });

  it('finds lines of a trace in order of time', async () => {
    const receiver = await start();
    receiver.logs.addLine(line('second').replace('00.000Z', '01.000Z'));
    receiver.logs.addLine(line('first'));
    receiver.logs.addLine('not JSON with "trace_id"');
    receiver.logs.addLine('{"msg":"of no trace"}');
    const records = await createBackend(receiver.url).logs(TRACE);
    expect(records.map(({ message, level }) => [message, level])).toEqual([
      ['first', 'info'],
      ['second', 'info'],
    ]);
  });

  it('takes OTLP log records too', async () => {
    const receiver = await start();
    const record = { traceId: TRACE, severityText: 'WARN', body: { stringValue: 'slow' }, timeUnixNano: '1' };
    await post(receiver, '/v1/logs', {
      resourceLogs: [{ resource: resourceOf('orders'), scopeLogs: [{ logRecords: [record] }] }],
    });
    expect(receiver.logs.ofTrace(TRACE)).toMatchObject([{ message: 'slow', level: 'warn', instance: 'orders-1' }]);
  });

  it('keeps a line once that came over OTLP and from standard output, in either order, and each of two equal ones', async () => {
    const receiver = await start();
    const time = Date.parse('2026-01-01T00:00:00.000Z');
    const send = (...messages: string[]) => {
      const logRecords = messages.map((message) => {
        const body = { stringValue: message };
        return { traceId: TRACE, severityText: 'INFO', body, timeUnixNano: `${time}000000` };
      });
      const resourceLogs = [{ resource: resourceOf('orders'), scopeLogs: [{ logRecords }] }];
      return post(receiver, '/v1/logs', { resourceLogs });
    };
    const ofInstance = (message: string) =>
      receiver.logs.addLine(line(message).replace('{', '{"instance":"orders-1",'));
    await send('first sent', 'twice');
    for (const message of ['first sent', 'twice', 'twice', 'first read']) ofInstance(message);
    await send('twice', 'first read');
    expect(receiver.logs.ofTrace(TRACE).map(({ message }) => message)).toEqual([
      'first sent',
      'twice',
      'twice',
      'first read',
    ]);
    expect(receiver.logs.stats()).toMatchObject({ records: 4, receivedRecords: 8, duplicateRecords: 4 });
  });

  it('drops the oldest beyond its memory', async () => {
    const receiver = await start({ maxLogBytes: 2_000 });
    for (let index = 0; index < 50; index++) receiver.logs.addLine(line(`line ${index}`));
    const { records, bytes, droppedRecords } = receiver.logs.stats();
    expect(bytes).toBeLessThanOrEqual(2_000);
    expect(records + droppedRecords).toBe(50);
    expect(receiver.logs.ofTrace(TRACE).at(-1)?.message).toBe('line 49');
  });
});

describe('other requests', () => {
  it.each(['/', '/api/v3/nothing'])('responds 404 to GET %s', async (path) => {
    expect((await get(await start(), path)).status).toBe(404);
  });

  it('responds 404 to a POST elsewhere', async () => {
    expect((await post(await start(), '/v1/profiles', {})).status).toBe(404);
  });
});
