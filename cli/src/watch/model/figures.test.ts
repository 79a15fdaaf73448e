import { describe, expect, it } from 'vitest';
import type { MetricPoint } from '../../otlp/metric-store.ts';
import { anInstance, aState } from '../testing/models.ts';
import { edgePortsOf, figuresOf } from './figures.ts';

const base = { unit: '', description: '', scope: '', startTime: 0, time: 0, receivedAt: 0, stale: false, pid: 1 };

function point(name: string, service: string, change: Partial<MetricPoint>): MetricPoint {
  return {
    ...base,
    name,
    service,
    instance: `${service}-1`,
    type: 'gauge',
    attributes: {},
    value: 0,
    ...change,
  } as MetricPoint;
}

function durations(name: string, service: string, count: number, attributes: MetricPoint['attributes'] = {}) {
  const series = {
    type: 'histogram',
    count,
    sum: 0,
    min: 0,
    max: 0,
    bounds: [0.01, 0.1],
    buckets: [count, 0, 0],
  } as const;
  return point(name, service, { ...series, attributes });
}

const proxy = (name: string, from: string, port: number) => ({
  name,
  from,
  to: 'x',
  listen: `127.0.0.1:${port}`,
  upstream: '',
});
const state = aState({
  instances: [anInstance('orders-1', { ports: { main: 501 } })],
  edges: [proxy('orders-payments', 'orders', 401), proxy('orders-payments-2', 'orders', 402)],
});
const ports = edgePortsOf(state);
const of = (points: readonly MetricPoint[]) =>
  figuresOf(
    [
      { time: 0, points: [] },
      { time: 2_000, points },
    ],
    ports,
  );

describe('figuresOf', () => {
  it('adds what a service serves over HTTP, gRPC and messages', () => {
    const figures = of([
      durations('http.server.request.duration', 'orders', 4),
      durations('http.server.request.duration', 'orders', 2, { 'error.type': '503' }),
      durations('rpc.server.call.duration', 'stock', 6),
      durations('messaging.process.duration', 'shipping', 8),
    ]);
    expect(figures.services.orders).toMatchObject({ perSecond: 3, errorsPerSecond: 1, p50Ms: 5 });
    expect(figures.services.stock?.perSecond).toBe(3);
    expect(figures.services.shipping?.perSecond).toBe(4);
    expect(figures.edges['shipping-broker']?.perSecond).toBe(4);
  });

  it('adds what waits for its response in the replicas that live, also while nothing is served', () => {
    const active = (value: number, change: Partial<MetricPoint> = {}) =>
      point('http.server.active_requests', 'orders', { type: 'upDownCounter', value, ...change });
    const figures = of([active(3), active(2, { instance: 'orders-2' }), active(9, { pid: 2, stale: true })]);
    expect(figures.waiting).toEqual({ orders: 5 });
    expect(figures.services.orders?.perSecond).toBeUndefined();
  });

  it('finds the edge of a call by the port of its proxy, replicas added, or of the instance without proxies', () => {
    const call = (service: string, port: number) =>
      durations('http.client.request.duration', service, 2, { 'server.port': port });
    const { edges } = of([call('orders', 401), call('orders', 402), call('gateway', 501)]);
    expect(edges['orders-payments']?.perSecond).toBe(2);
    expect(edges['gateway-orders']?.perSecond).toBe(1);
  });

  it('takes the worst breaker of the instances that live', () => {
    const breaker = (value: number, pid: number, stale = false) =>
      point('shop.breaker.state', 'orders', { value, pid, stale, attributes: { edge: 'orders-stock' } });
    expect(of([breaker(0, 1), breaker(1, 2), breaker(2, 3, true)]).edges['orders-stock']?.breaker).toBe('half-open');
  });

  it('counts sagas from the start and their rate in the window; one sample has no rate', () => {
    const sagas = point('shop.sagas', 'orders', { type: 'counter', value: 10, attributes: { status: 'Confirmed' } });
    expect(of([sagas]).confirmed).toEqual({ total: 10, perSecond: 5 });
    expect(figuresOf([{ time: 0, points: [sagas] }], ports).confirmed).toEqual({ total: 10, perSecond: 0 });
  });

  it('does not know what waits in the outbox when no instance reports it any more', () => {
    expect(of([point('shop.outbox.pending', 'orders', { value: 7 })]).pending).toBe(7);
    expect(of([point('shop.outbox.pending', 'orders', { value: 7, stale: true })]).pending).toBeUndefined();
  });
});
