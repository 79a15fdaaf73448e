import { context, TraceFlags, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { LogRecordExporter } from '@opentelemetry/sdk-logs';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { createLogger } from '../logger.ts';
import { createLogExport } from './log-export.ts';
import { publishLogSink } from './log-sink.ts';

type Export = Parameters<LogRecordExporter['export']>;

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';

beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
afterAll(() => context.disable());
afterEach(() => {
  publishLogSink(undefined);
  vi.restoreAllMocks();
});

/** An export whose batches wait until the test completes them, or which takes them immediately. */
function anExport({ maxQueueSize = 100, takesImmediately = true } = {}) {
  const batches: Export[] = [];
  const exporter: LogRecordExporter = {
    export(...call) {
      batches.push(call);
      if (takesImmediately) call[1]({ code: 0 });
    },
    shutdown: async () => undefined,
    forceFlush: async () => undefined,
  };
  const resource = resourceFromAttributes({ 'service.name': 'orders' });
  const logs = createLogExport({ exporter, resource, delayMs: 60_000, maxQueueSize, maxExportBatchSize: maxQueueSize });
  return { logs, batches, records: () => batches.flatMap(([records]) => records) };
}

const line = (fields: object) => `${JSON.stringify({ level: 'info', time: '2026-01-01T00:00:00.123Z', ...fields })}\n`;

it('sends what a logger writes, with time, severity, trace and span, and without what is personal', async () => {
  const { logs, records } = anExport();
  publishLogSink((text) => logs.take(text));
  const logger = createLogger({ service: 'orders', instance: 'orders-1', level: 'info' });
  const span = trace.wrapSpanContext({ traceId: TRACE_ID, spanId: SPAN_ID, traceFlags: TraceFlags.SAMPLED });
  context.with(trace.setSpan(context.active(), span), () => {
    logger.warn({ orderId: '1', customer: 'Oksana', err: new Error('lost') }, 'the database is unavailable');
  });
  logger.debug('not at this level');
  await logs.shutdown();
  const [record, ...others] = records();
  expect(others).toEqual([]);
  expect(record).toMatchObject({
    body: 'the database is unavailable',
    severityNumber: 13,
    severityText: 'WARN',
    spanContext: { traceId: TRACE_ID, spanId: SPAN_ID, traceFlags: TraceFlags.SAMPLED },
    attributes: { orderId: '1', err: { type: 'Error', message: 'lost' } },
  });
  expect(record?.resource.attributes).toMatchObject({ 'service.name': 'orders' });
  expect(JSON.stringify([record?.attributes, record?.body])).not.toContain('Oksana');
  for (const own of ['service', 'instance', 'trace_id', 'level']) expect(record?.attributes).not.toHaveProperty(own);
});

it('has the time of the line, and no trace outside of one', async () => {
  const { logs, records } = anExport();
  logs.take(line({ msg: 'started' }));
  await logs.shutdown();
  expect(records()[0]?.hrTime).toEqual([1_767_225_600, 123_000_000]);
  expect(records()[0]?.spanContext).toBeUndefined();
});

it('counts records as exported once the receiver has taken them, and as dropped when it refuses', async () => {
  const { logs, batches } = anExport({ takesImmediately: false });
  logs.take(line({ msg: 'one' }));
  const ended = logs.shutdown();
  await vi.waitFor(() => expect(batches).toHaveLength(1));
  expect(logs.counts()).toEqual({ written: 1, exported: 0, dropped: 0 });
  batches[0]?.[1]({ code: 1, error: new Error('refused') });
  await ended.catch(() => undefined);
  expect(logs.counts()).toEqual({ written: 1, exported: 0, dropped: 1 });
});

it('drops and counts what does not fit into its queue', async () => {
  const { logs, batches } = anExport({ maxQueueSize: 2, takesImmediately: false });
  for (let index = 0; index < 2; index++) logs.take(line({ msg: `line ${index}` }));
  await vi.waitFor(() => expect(batches).toHaveLength(1));
  // The first two are on their way; two more wait, and the last has no place.
  for (let index = 2; index < 5; index++) logs.take(line({ msg: `line ${index}` }));
  expect(logs.counts()).toEqual({ written: 5, exported: 0, dropped: 1 });
});

it('is an event where the line has the name of one', async () => {
  const { logs, records } = anExport();
  logs.take(line({ msg: 'feature_flag.evaluation', event_name: 'feature_flag.evaluation', 'feature_flag.key': 'a' }));
  logs.take(line({ msg: 'started' }));
  await logs.shutdown();
  expect(records().map(({ eventName }) => eventName)).toEqual(['feature_flag.evaluation', undefined]);
  expect(records()[0]?.attributes).toEqual({ 'feature_flag.key': 'a' });
});
