/**
 * Goal: each check passes on what a healthy platform gives and fails, in the reader's words, on what it must not give.
 * Method: the checks' own ports (gateway, databases, telemetry, log folder) with fixed responses, one response changed
 * at a time.
 */
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ByStatus } from '../../audit/invariants/metrics.ts';
import type { PlaceResponse } from '../../shop/gateway-client.ts';
import { CheckFailed, EvidenceMissing } from '../check-errors.ts';
import type { VerifyContext } from '../context.ts';
import { confirmed } from './confirmed.ts';
import { correlation } from './correlation.ts';
import { declined } from './declined.ts';
import { metrics } from './metrics.ts';
import { outbox } from './outbox.ts';
import { privacy } from './privacy.ts';
import { replayed } from './replayed.ts';

const MARKER = 'Verify 3b6c';
const order = (changes: object = {}): PlaceResponse => ({
  kind: 'decided',
  id: 'order-1',
  status: 'Confirmed',
  reason: null,
  httpStatus: 201,
  traceId: 'trace-1',
  tookMs: 20,
  ...changes,
});
const cancelled = order({ id: 'order-2', status: 'Cancelled', reason: 'payment declined', httpStatus: 200 });
const problem = (code: string, status: number, detail = 'no'): PlaceResponse =>
  ({
    kind: 'problem',
    problem: { code, status, detail, title: code, type: code },
    traceId: 't',
    location: null,
    retryAfterS: null,
    tookMs: 1,
  }) as PlaceResponse;
const says = (response: PlaceResponse) => ({
  request: { customer: MARKER, lines: [] },
  response: async () => response,
});
const both = (Confirmed: number, Cancelled: number): ByStatus => ({ Confirmed, Cancelled });
const point = (name: string, status: string, value: number) => ({
  name,
  scope: 'Shop.Orders',
  service: 'orders',
  instance: 'orders-1',
  pid: 1,
  stale: false,
  attributes: { status },
  time: Date.now() + 10_000,
  // 20 ms each.
  ...(name === 'shop.saga.duration'
    ? { type: 'histogram', count: value, sum: value * 20 }
    : { type: 'counter', value }),
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-verify-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Each look at the clock is a minute later: limits end without waiting. */
function letTimePass(): void {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 60_000));
  onTestFinished(() => clock.mockRestore());
}

/** A run on a healthy platform; `rows` responds to statements by a word in them. */
function aRun({ rows = {}, ...changes }: { rows?: Record<string, readonly object[]> } & Record<string, unknown> = {}) {
  const known: Record<string, readonly object[]> = {
    // First and last: what a test gives is looked for first.
    ...rows,
    Shipments: [{ count: 1 }],
    'now() AS at': [{ at: new Date() }],
    'published_at IS NULL': [{ count: 0 }],
    'GROUP BY status': [
      { status: 'Confirmed', fewest: 1, most: 1, leastMs: 15, mostMs: 15 },
      { status: 'Cancelled', fewest: 1, most: 1, leastMs: 15, mostMs: 15 },
    ],
    'customer = $1': [{ id: 'order-1', text: '{}' }],
    ...rows,
  };
  const context = {
    marker: MARKER,
    signal: new AbortController().signal,
    project: { logDir: folder },
    databases: {
      query: async (_database: string, text: string) => {
        const key = Object.keys(known).find((word) => text.includes(word));
        if (key === undefined) throw new Error(`unexpected statement ${text}`);
        return known[key];
      },
    },
    telemetry: {
      metrics: async () =>
        ['shop.sagas', 'shop.saga.duration'].flatMap((name) => [
          point(name, 'Confirmed', 4),
          point(name, 'Cancelled', 3),
        ]),
      trace: async () => ({ spans: [{ name: 'POST', attributes: { a: 1 } }], incomplete: undefined }),
    },
    gateway: { placeOrder: async () => problem('invalid_request', 400) },
    exportMs: 0,
    traceIds: () => ['trace-1'],
    before: Promise.resolve({ sagas: both(3, 2), durations: both(3, 2), durationSumMs: 100, oldest: 0, newest: 0 }),
    confirmed: says(order()),
    declined: says(cancelled),
    replayed: says(order()),
    misused: says(problem('idempotency_key_reused', 422)),
    ...changes,
  };
  return context as unknown as VerifyContext;
}

describe('the orders', () => {
  it('confirmed with one shipment', async () => {
    expect(await confirmed.run(aRun())).toContain('201 Confirmed');
  });

  it('confirmed with another status is a failure that quotes the response', async () => {
    const unavailable = order({ status: 'Cancelled', httpStatus: 200, reason: 'payment unavailable' });
    const failure = confirmed.run(aRun({ confirmed: says(unavailable) }));
    await expect(failure).rejects.toMatchObject({
      expected: '201 Confirmed',
      observed: '200 Cancelled (payment unavailable)',
    });
  });

  it('confirmed with two shipments is a failure', async () => {
    await expect(confirmed.run(aRun({ rows: { Shipments: [{ count: 2 }] } }))).rejects.toThrow('observed 2 rows');
  });

  it('declined for the right reason only', async () => {
    expect(await declined.run(aRun())).toContain('payment declined');
    await expect(declined.run(aRun({ declined: says(order()) }))).rejects.toThrow('observed 201 Confirmed');
  });

  it('repeated is the same order, and another body is refused', async () => {
    expect(await replayed.run(aRun())).toContain('same order');
    await expect(replayed.run(aRun({ replayed: says(order({ id: 'order-9' })) }))).rejects.toThrow('order-9');
    await expect(replayed.run(aRun({ misused: says(order()) }))).rejects.toThrow('expected 422');
  });

  it('that do not exist leave nothing to repeat: unknown', async () => {
    await expect(replayed.run(aRun({ confirmed: says(problem('overloaded', 503)) }))).rejects.toThrow(EvidenceMissing);
  });
});

describe('the outbox', () => {
  it('that keeps an event for longer than its limit is a failure', async () => {
    letTimePass();
    const rows = { 'published_at IS NULL': [{ count: 2 }] };
    await expect(outbox.run(aRun({ rows }))).rejects.toThrow('expected 0 unpublished events, observed 2 after');
  });

  it('is empty', async () => {
    expect(await outbox.run(aRun())).toContain('0 unpublished');
  });
});

describe('the metrics', () => {
  const counting = (sagas: ByStatus, durations = sagas) => ({
    telemetry: {
      metrics: async () => [
        point('shop.sagas', 'Confirmed', sagas.Confirmed),
        point('shop.sagas', 'Cancelled', sagas.Cancelled),
        point('shop.saga.duration', 'Confirmed', durations.Confirmed),
        point('shop.saga.duration', 'Cancelled', durations.Cancelled),
      ],
    },
  });

  it('moved by this run when no other client orders', async () => {
    expect(await metrics.run(aRun())).toContain('Confirmed +1, Cancelled +1');
  });

  it('moved by the orders of others too', async () => {
    const rows = {
      'GROUP BY status': [
        { status: 'Confirmed', fewest: 4, most: 6, leastMs: 60, mostMs: 90 },
        { status: 'Cancelled', fewest: 1, most: 1, leastMs: 15, mostMs: 15 },
      ],
    };
    expect(await metrics.run(aRun({ rows, ...counting(both(8, 3)) }))).toContain('Confirmed +5');
  });

  it.each([
    ['too much', both(5, 3), both(5, 3), 'observed +2'],
    ['too little', both(3, 3), both(3, 3), 'observed +0'],
    ['with fewer durations than sagas', both(4, 3), both(4, 2), 'shop.saga.duration{status=Cancelled}'],
  ])('counted %s are a failure', async (_title, sagas, durations, text) => {
    await expect(metrics.run(aRun(counting(sagas, durations)))).rejects.toThrow(text);
  });

  it.each([
    ['0', 100],
    ['in seconds', 100.04],
    ['in microseconds', 100 + 40_000],
  ])('with durations that are %s are a failure', async (_title, sum) => {
    const inUnit = async () => [
      point('shop.sagas', 'Confirmed', 4),
      point('shop.sagas', 'Cancelled', 3),
      { ...point('shop.saga.duration', 'Confirmed', 4), sum },
      { ...point('shop.saga.duration', 'Cancelled', 3), sum: 0 },
    ];
    await expect(metrics.run(aRun({ telemetry: { metrics: inUnit } }))).rejects.toThrow('shop.saga.duration +15 to');
  });

  it('that could not be read before the first order are unknown', async () => {
    const before = Promise.reject(new Error('unavailable'));
    before.catch(() => undefined);
    await expect(metrics.run(aRun({ before }))).rejects.toThrow(EvidenceMissing);
  });
});

describe('logs', () => {
  const line = (traceId: string) =>
    `${JSON.stringify({ level: 'info', time: '2026-01-01T00:00:00Z', msg: 'request completed', trace_id: traceId })}\n`;

  it('have a line of the gateway, of orders and of shipping with the trace id', async () => {
    await writeFile(join(folder, 'gateway-1.log'), line('trace-1'));
    await writeFile(join(folder, 'orders-1.log'), line('trace-1'));
    await writeFile(join(folder, 'shipping-1.log'), line('trace-1'));
    expect(await correlation.run(aRun())).toContain('gateway');
  });

  it.each(['order_id', 'route'])('of any service about work (%s) without a trace id are a failure', async (field) => {
    for (const name of ['gateway', 'orders', 'shipping'])
      await writeFile(join(folder, `${name}-1.log`), line('trace-1'));
    const time = new Date(Date.now() + 60_000).toISOString();
    const untraced = { level: 'debug', time, msg: 'request completed', [field]: 'x' };
    await writeFile(join(folder, 'stock-1.log'), `${JSON.stringify(untraced)}\n`);
    await expect(correlation.run(aRun())).rejects.toThrow('1 without one, e.g. of stock-1: request completed');
  });

  it('about the process itself need none', async () => {
    const time = new Date(Date.now() + 60_000).toISOString();
    const listening = `${JSON.stringify({ level: 'info', time, msg: 'listening', port: 1 })}\n`;
    for (const name of ['gateway', 'orders', 'shipping'])
      await writeFile(join(folder, `${name}-1.log`), line('trace-1') + listening);
    expect(await correlation.run(aRun())).toContain('every line about');
  });

  it('without one are a failure that names service and trace', async () => {
    letTimePass();
    await writeFile(join(folder, 'gateway-1.log'), line('another'));
    await expect(correlation.run(aRun())).rejects.toThrow('gateway for trace-1');
  });

  it('without that of the shipment of a confirmed order are a failure', async () => {
    letTimePass();
    for (const name of ['gateway', 'orders']) await writeFile(join(folder, `${name}-1.log`), line('trace-1'));
    await expect(correlation.run(aRun())).rejects.toThrow('shipping for trace-1');
  });
});

describe('privacy', () => {
  it('sends the request that is refused, waits until all of it is out, and only then reads', async () => {
    const read: string[] = [];
    let respondedAt = Number.POSITIVE_INFINITY;
    let readAt = 0;
    await writeFile(join(folder, 'gateway-1.log'), '');
    const run = aRun({
      exportMs: 600,
      gateway: {
        async placeOrder() {
          // The gateway writes its line, and sends its span, a moment after it has responded.
          setTimeout(() => void appendFile(join(folder, 'gateway-1.log'), `invalid order of ${MARKER}\n`), 300);
          respondedAt = performance.now();
          return { ...problem('invalid_request', 400), traceId: 'trace-of-the-refused' };
        },
      },
      telemetry: {
        metrics: async () => [],
        async trace(traceId: string) {
          read.push(traceId);
          readAt = performance.now();
          return { spans: [{ service: 'gateway', name: 'POST', attributes: {} }] };
        },
      },
    });
    await expect(privacy.run(run)).rejects.toThrow('log gateway-1.log');
    expect(read).toContain('trace-of-the-refused');
    expect(readAt).toBeGreaterThan(respondedAt);
  });
  it('holds when the marker is in the orders database only', async () => {
    await writeFile(join(folder, 'orders-1.log'), '{"msg":"fine"}\n');
    expect(await privacy.run(aRun())).toContain('1 orders with the marker');
  });

  it('is unknown when there was nothing to look through', async () => {
    await expect(privacy.run(aRun())).rejects.toThrow('there were no logs to look through');
    await writeFile(join(folder, 'orders-1.log'), '');
    await expect(
      privacy.run(aRun({ telemetry: { metrics: async () => [{}], trace: async () => ({ spans: [] }) } })),
    ).rejects.toThrow('there were no spans to look through');
  });

  it('is unknown when no order was stored', async () => {
    await expect(privacy.run(aRun({ rows: { 'customer = $1': [] } }))).rejects.toThrow(EvidenceMissing);
  });

  it.each([
    ['a log', {}, 'log orders-1.log', true],
    [
      'a span',
      {
        telemetry: {
          metrics: async () => [],
          trace: async () => ({ spans: [{ service: 'orders', name: 'POST', attributes: { who: MARKER } }] }),
        },
      },
      'span orders "POST"',
      false,
    ],
    [
      'a metric',
      {
        telemetry: {
          metrics: async () => [{ name: 'http', attributes: { who: MARKER } }],
          trace: async () => ({ spans: [] }),
        },
      },
      'metric http',
      false,
    ],
    ['an event', { rows: { 'payload::text': [{ text: MARKER }] } }, 'an event in the outbox', false],
    [
      'an error',
      { gateway: { placeOrder: async () => problem('invalid_request', 400, `${MARKER} is not valid`) } },
      'problem invalid_request',
      false,
    ],
  ])('a marker in %s is a failure that names the place', async (_title, changes, place, isLogged) => {
    if (isLogged) await writeFile(join(folder, 'orders-1.log'), `{"customer":"${MARKER}"}\n`);
    const failure = privacy.run(aRun(changes));
    await expect(failure).rejects.toThrow(CheckFailed);
    await expect(failure).rejects.toThrow(place);
  });
});
