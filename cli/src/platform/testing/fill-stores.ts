import { getHeapSpaceStatistics } from 'node:v8';
import { createLogStore } from '../../otlp/log-store.ts';
import type { TracesData } from '../../otlp/otlp-json.ts';
import { createTraceStore } from '../../otlp/trace-store.ts';

/** What a process holds after its stores were filled many times over, bytes. Printed as JSON. */
export interface HeapReport {
  readonly youngBytes: number;
  /** What the full stores added to the heap. */
  readonly heldBytes: number;
  /** What the stores say of it. */
  readonly estimatedBytes: number;
  readonly evictedTraces: number;
}

const TRACES = 3_000;
const SPANS_OF_A_TRACE = 31;

const idOf = (number: number, length: number) => number.toString(16).padStart(length, '0');

/** As a service exports it: parsed from the text of a body. */
function exportOf(trace: number): TracesData {
  const spans = Array.from({ length: SPANS_OF_A_TRACE }, (_, index) => ({
    traceId: idOf(trace + 1, 32),
    spanId: idOf(index + 1, 16),
    name: `pg.query:INSERT ${index}`,
    kind: 3,
    startTimeUnixNano: `${1_790_000_000_000 + trace}000000`,
    endTimeUnixNano: `${1_790_000_000_003 + trace}000000`,
    attributes: [
      { key: 'db.system.name', value: { stringValue: 'postgresql' } },
      {
        key: 'db.query.text',
        value: { stringValue: 'INSERT INTO orders (id, customer_id, total) VALUES ($1, $2, $3)' },
      },
      { key: 'shop.order.id', value: { stringValue: `order ${trace}` } },
      { key: 'network.peer.port', value: { intValue: 30_000 + ((trace + index) % 30_000) } },
      { key: 'thread.id', value: { intValue: 0 } },
    ],
  }));
  return JSON.parse(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ scope: { name: 'pg' }, spans }] }] }));
}

/** As they are cut out of what was read of a log file: the lines are pieces of one text. */
function linesOf(trace: number): readonly string[] {
  const line = (index: number) =>
    JSON.stringify({
      level: 'info',
      time: '2026-11-23T12:00:00.000Z',
      service: 'orders',
      instance: 'orders-1',
      trace_id: idOf(trace + 1, 32),
      span_id: idOf(index + 1, 16),
      orderId: `order ${trace}`,
      msg: `order ${trace} took step ${index}`,
    });
  return Buffer.from([0, 1, 2, 3, 4].map(line).join('\n')).toString('utf8').split('\n');
}

const collect = globalThis.gc;
if (collect === undefined) throw new Error('start it with --expose-gc');
const traces = createTraceStore({ maxTraceBytes: 8 * 1024 ** 2, maxSpansPerTrace: 2_000, maxEvictions: 1_000 });
const logs = createLogStore({ maxLogBytes: 2 * 1024 ** 2 });
collect();
const before = process.memoryUsage().heapUsed;
for (let trace = 0; trace < TRACES; trace++) {
  traces.add(exportOf(trace), trace);
  for (const line of linesOf(trace)) logs.addLine(line);
}
const youngBytes = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
collect();
const report: HeapReport = {
  youngBytes,
  heldBytes: process.memoryUsage().heapUsed - before,
  estimatedBytes: traces.stats().bytes + logs.stats().bytes,
  evictedTraces: traces.stats().evictedTraces,
};
console.log(JSON.stringify(report));
