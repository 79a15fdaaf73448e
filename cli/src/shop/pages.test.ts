import { describe, expect, it } from 'vitest';
import { createStyle } from '../output/style.ts';
import type { LogLine } from '../platform/log-reader.ts';
import { buildTree, type TraceSpan } from '../trace/tree.ts';
import { formatExplanation } from './explain-page.ts';
import { formatSagas } from './sagas-table.ts';
import { aCancelledOrder, anOrder, aPayment, aReservation, at, someEvidence, TRACE_ID } from './testing/stories.ts';
import { timelineOf } from './timeline.ts';
import { formatTimeline } from './timeline-page.ts';

const view = { style: createStyle({ enabled: false }), columns: 80 };
const widest = (page: string) => Math.max(...page.split('\n').map((line) => line.length));

function aSpan(change: Partial<TraceSpan> & { readonly startMs: number; readonly lastsMs: number }): TraceSpan {
  const { startMs, lastsMs, ...rest } = change;
  const startNanos = BigInt(at(startMs).getTime()) * 1_000_000n;
  return {
    spanId: '1111111111111111',
    parentSpanId: undefined,
    service: 'orders',
    instance: 'orders-1',
    pid: 1,
    name: 'order saga',
    kind: 'internal',
    database: undefined,
    error: false,
    statusMessage: undefined,
    attributes: {},
    startNanos,
    endNanos: startNanos + BigInt(Math.round(lastsMs * 1e6)),
    ...rest,
  };
}

const tree = buildTree([aSpan({ startMs: -2, lastsMs: 34, name: 'POST /orders' })]);
const trace = { traceId: TRACE_ID, tree, spans: 1, note: null };

function aLogLine(record: Record<string, unknown>): LogLine {
  return {
    instance: 'orders-1',
    record: { level: 'warn', trace_id: TRACE_ID, ...record },
    text: '',
    timeMs: at(20).getTime(),
  };
}

describe('the page of explain', () => {
  it('begins with the conclusion and has a section for every source', () => {
    const page = formatExplanation({ evidence: someEvidence(), trace, logs: [] }, view);
    expect(page.split('\n')[0]).toMatch(/^Confirmed: payments accepted 450\.00 UAH/);
    for (const heading of ['RESPONSE', 'SAGA', 'RECORDS', 'TRACE', 'LOGS']) expect(page).toContain(`\n${heading}\n`);
    expect(page).toContain('POST /orders');
  });

  it('is at most 80 characters wide, whatever an error or a log line says', () => {
    const long = 'the payments service did not respond '.repeat(6);
    const evidence = aCancelledOrder(
      {
        reason: 'payment unavailable',
        state: 'Compensating',
        open: true,
        pending: ['refund payment'],
        lastError: long,
      },
      { payment: aPayment({ state: 'attempted' }), reservation: aReservation() },
    );
    const page = formatExplanation({ evidence, trace, logs: [aLogLine({ msg: long })] }, view);
    expect(widest(page)).toBeLessThanOrEqual(80);
  });

  it('says of a database without a response that its record is unknown', () => {
    const evidence = someEvidence({ payment: null, unavailable: { payments: 'timeout' } });
    expect(formatExplanation({ evidence, trace: null, logs: [] }, view)).toMatch(/^payment +unknown$/m);
  });

  it('cuts a long log and says where the rest is', () => {
    const logs = Array.from({ length: 45 }, (_, index) => aLogLine({ msg: `line ${index}` }));
    const page = formatExplanation({ evidence: someEvidence(), trace, logs }, view);
    expect(page).toContain(`and 5 more: shopctl logs --trace ${TRACE_ID}`);
  });
});

describe('the timeline', () => {
  it('puts moments and spans on one axis in order of time', () => {
    const entries = timelineOf(someEvidence(), tree);
    expect(entries.map(({ name }) => name)).toEqual([
      'POST /orders',
      'start order',
      'reserve stock',
      'charge payment',
      'confirm order',
      'publish order.confirmed',
      'deliver order.confirmed',
      'create shipment',
    ]);
    const lines = formatTimeline(entries, view).split('\n');
    expect(lines[0]).toMatch(/^ *0\.0 orders {5}POST \/orders +██·+$/);
    expect(lines[7]).toMatch(/^342\.0 shipping ◆ create shipment +·+◆$/);
    expect(widest(lines.join('\n'))).toBeLessThanOrEqual(80);
  });

  it('leaves the axis out where there is no room for it', () => {
    const page = formatTimeline(timelineOf(someEvidence(), tree), { ...view, columns: 60 });
    expect(page).not.toContain('█');
  });
});

describe('the table of sagas', () => {
  it('says under a stuck saga why it is stuck and what failed last', () => {
    const saga = anOrder({
      status: 'Cancelled',
      reason: 'payment unavailable',
      state: 'Compensating',
      open: true,
      pending: ['refund payment', 'release stock'],
      attempts: 5,
      lastError: `orders-payments: ${'timeout '.repeat(20)}`,
      nextAttemptAt: at(6_000),
      owner: { id: ORDER_OWNER, instance: 'orders-1', leaseUntil: at(0), alive: false },
    });
    const page = formatSagas([saga], view);
    expect(page).toContain('Compensating');
    expect(page).toContain('refund, release');
    expect(page).toMatch(/orders-1 gone .* 5 +1\.00 s$/m);
    expect(page).toContain('stuck: its owner is gone; 5 failed rounds of compensation');
    expect(widest(page)).toBeLessThanOrEqual(80);
  });
});

const ORDER_OWNER = 'a2f1b3c4-0000-4000-8000-000000000001';
