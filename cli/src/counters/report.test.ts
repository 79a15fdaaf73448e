import { describe, expect, it } from 'vitest';
import type { MetricPoint } from '../otlp/metric-store.ts';
import { createStyle } from '../output/style.ts';
import { quantile } from './histogram.ts';
import { renderReport } from './render.ts';
import { createReport } from './report.ts';

const base = { unit: '', description: '', startTime: 0, time: 0, changedAt: 0, receivedAt: 0, stale: false, pid: 1 };

function sagas(value: number, changes: Partial<MetricPoint> = {}): MetricPoint {
  const attributes = { status: 'Confirmed' };
  const point = { ...base, type: 'counter', name: 'shop.sagas', scope: 'Shop.Orders', attributes, value };
  return { ...point, service: 'orders', instance: 'orders-1', ...changes } as MetricPoint;
}

function requests(buckets: readonly number[], attributes: Record<string, string> = {}): MetricPoint {
  const count = buckets.reduce((a, b) => a + b, 0);
  const names = { 'http.request.method': 'POST', 'http.route': '/orders', ...attributes };
  const series = { type: 'histogram', count, sum: 0, min: 0, max: 0, bounds: [0.01, 0.1], buckets } as const;
  const point = { ...base, ...series, name: 'http.server.request.duration', scope: 'http', attributes: names };
  return { ...point, service: 'orders', instance: 'orders-1' } as MetricPoint;
}

describe('createReport', () => {
  it('adds what waits for its response in the processes that live, and the text says so while something does', () => {
    const active = (value: number, changes: Partial<MetricPoint> = {}) =>
      sagas(value, {
        type: 'upDownCounter',
        name: 'http.server.active_requests',
        scope: 'shop',
        attributes: {},
        ...changes,
      });
    const points = [
      active(3),
      active(1, { pid: 2 }),
      active(9, { pid: 3, stale: true }),
      active(0, { service: 'catalog' }),
    ];
    const report = createReport({ time: 0, points });
    expect(report.waiting).toEqual({ orders: 4, catalog: 0 });
    expect(renderReport(report, createStyle({ enabled: false }))).toContain('wait for a response: orders 4');
    expect(renderReport(createReport({ time: 0, points: [] }), createStyle({ enabled: false }))).not.toContain(
      'wait for',
    );
  });

  it('adds the instances of a counter, also those that are gone', () => {
    const gone = sagas(3, { pid: 9, stale: true });
    const { instruments } = createReport({ time: 0, points: [sagas(4), gone] });
    expect(instruments).toMatchObject([{ name: 'shop.sagas', value: 7, stale: false, perSecond: undefined }]);
  });

  it('counts what a restarted process did since the last report as new', () => {
    const before = { time: 0, points: [sagas(4)] };
    const now = { time: 2_000, points: [sagas(4, { stale: true }), sagas(6, { pid: 2 })] };
    expect(createReport(now, before).instruments).toMatchObject([{ value: 10, perSecond: 3 }]);
  });

  it('does not add gauges of instances that report the same table, and prefers those alive', () => {
    const gauge = { type: 'gauge', name: 'shop.outbox.pending', attributes: {} } as const;
    const points = [sagas(2, gauge), sagas(2, { ...gauge, pid: 2 }), sagas(9, { ...gauge, pid: 3, stale: true })];
    expect(createReport({ time: 0, points }).instruments).toMatchObject([{ value: 2 }]);
  });

  it('adds gauges of what each instance has for itself', () => {
    const gauge = { type: 'gauge', name: 'shop.sagas.active', attributes: {} } as const;
    const points = [sagas(7, gauge), sagas(5, { ...gauge, pid: 2 }), sagas(9, { ...gauge, pid: 3, stale: true })];
    expect(createReport({ time: 0, points }).instruments).toMatchObject([{ value: 12 }]);
  });

  it('reports rate, errors and duration per operation, of the interval', () => {
    const failed = { 'http.response.status_code': '500', 'error.type': '500' };
    const before = { time: 0, points: [requests([10, 0, 0])] };
    const now = { time: 1_000, points: [requests([10, 4, 0]), requests([0, 0, 1], failed)] };
    expect(createReport(now, before).red).toMatchObject([
      { service: 'orders', operation: 'POST /orders', total: 15, totalErrors: 1, perSecond: 5, errorsPerSecond: 1 },
    ]);
    expect(createReport(now, before).red[0]?.p50Ms).toBeCloseTo(66.25);
  });
});

describe('quantile', () => {
  it.each([
    [0.5, [10, 0, 0], 0.005],
    [0.5, [5, 5, 0], 0.01],
    [1, [5, 5, 0], 0.1],
    [0.99, [0, 0, 1], 0.1],
  ])('%d of %j is %d', (q, buckets, expected) => {
    const count = buckets.reduce((a, b) => a + b, 0);
    expect(quantile({ count, bounds: [0.01, 0.1], buckets }, q)).toBeCloseTo(expected);
  });

  it('is undefined without values', () => {
    expect(quantile({ count: 0, bounds: [1], buckets: [0, 0] }, 0.5)).toBeUndefined();
  });
});

describe('renderReport', () => {
  it.each([
    ['totals', undefined, /Requests and deliveries +total +errors/],
    ['rates', { time: 0, points: [] }, /Requests and deliveries +per s +errors/],
  ])('names %s what it shows', (_, before, heading) => {
    const now = { time: 1_000, points: [requests([1, 0, 0])] };
    expect(renderReport(createReport(now, before), createStyle({ enabled: false }))).toMatch(heading);
  });

  it('fits 80 columns', () => {
    const long = { 'http.route': '/a/very/long/route/that/does/not/fit/into/any/column/at/all' };
    const now = { time: 1_000, points: [sagas(123_456_789), requests([1, 2, 3], long)] };
    const text = renderReport(createReport(now, { time: 0, points: [] }), createStyle({ enabled: false }));
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});
